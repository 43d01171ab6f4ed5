import { expect, test } from 'vitest';
import { type Contender, orderOfRound, playRounds, ratioToBestPeer } from '../src/rounds.js';

const never = new AbortController().signal;

/** Contenders whose measurements are the entries of `log` at their time. */
function logging(names: readonly string[], log: string[]): Contender<number>[] {
  return names.map((name) => ({
    name,
    async measure() {
      log.push(name);
      return log.length;
    },
  }));
}

test('three contenders take all six orders in six rounds, and each place twice', () => {
  const orders = Array.from({ length: 6 }, (_, i) => orderOfRound(['a', 'b', 'c'], i).join(''));
  expect(new Set(orders).size).toBe(6);
  for (const place of [0, 1, 2]) {
    const there = orders.map((order) => order[place]);
    expect([...there].sort().join('')).toBe('aabbcc');
  }
});

test('each is warmed up and then measured once a round, in the order of the round', async () => {
  const log: string[] = [];
  const rounds = await playRounds(logging(['a', 'b'], log), {
    rounds: 3,
    warmUpMs: 0,
    signal: never,
  });
  expect(log.join('')).toBe('ab' + 'ab' + 'ba' + 'ba');
  expect(rounds.map((round) => Object.fromEntries(round))).toEqual([
    { a: 3, b: 4 },
    { b: 5, a: 6 },
    { b: 7, a: 8 },
  ]);
});

test('an abort ends the game before the next measurement', async () => {
  const controller = new AbortController();
  const log: string[] = [];
  const [first, second] = logging(['a', 'b'], log) as [Contender<number>, Contender<number>];
  const aborting: Contender<number> = {
    name: first.name,
    async measure() {
      controller.abort(new Error('enough'));
      return first.measure();
    },
  };
  const game = { rounds: 1, warmUpMs: 0, signal: controller.signal };
  await expect(playRounds([aborting, second], game)).rejects.toThrow('enough');
  expect(log).toEqual(['a']);
});

test('a ratio is taken against the best peer of each round; the median round counts', () => {
  const rounds = [
    { rl: 30, slow: 5, fast: 10 },
    { rl: 40, slow: 20, fast: 10 },
    { rl: 90, slow: 1, fast: 10 },
  ].map((round) => new Map(Object.entries(round)));
  const figure = (value: number): number => value;
  // 30 / 10, 40 / 20, 90 / 10
  expect(ratioToBestPeer(rounds, 'rl', ['slow', 'fast'], figure, 'highest')).toBe(3);
  // 30 / 5, 40 / 10, 90 / 1
  expect(ratioToBestPeer(rounds, 'rl', ['slow', 'fast'], figure, 'lowest')).toBe(6);
  expect(() => ratioToBestPeer(rounds, 'nobody', ['slow'], figure, 'lowest')).toThrow('nobody');
});
