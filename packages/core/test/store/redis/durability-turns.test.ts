import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RedisClient } from '../../../src/store/redis/client.js';
import { Durability } from '../../../src/store/redis/durability.js';
import { ManualClock } from '../../../src/testing/manual-clock.js';

vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
afterEach(() => void vi.useRealTimers());

/** A connection whose WAITs the test answers. */
class Line implements RedisClient {
  status = 'ready';
  stream: unknown = {};
  readonly waits: { answer(count: unknown): void; fail(error: Error): void }[] = [];

  wait(): Promise<unknown> {
    return new Promise((answer, fail) => this.waits.push({ answer, fail }));
  }
  eval = () => Promise.resolve();
  evalsha = () => Promise.resolve();
}

function open(client: RedisClient = new Line(), replicas = 1) {
  const clock = new ManualClock();
  const schedule = vi.fn();
  // No timer has a part in this: each test is over long before.
  const durability = new Durability(client, { replicas, timeoutMs: 1000 }, schedule, clock);
  return { line: client as Line, clock, schedule, durability };
}

/** A Cluster of these primaries. */
const clusterOf = (lines: readonly Line[]): RedisClient => ({
  isCluster: true,
  nodes: (role) => (role === 'master' ? lines : []),
  eval: () => Promise.resolve(),
  evalsha: () => Promise.resolve(),
});

/** What became of a promise by the end of this turn. */
async function stateOf(promise: Promise<unknown>): Promise<unknown> {
  const later = new Promise((resolve) => setImmediate(() => resolve('held')));
  return Promise.race([promise.then(() => 'told', String), later]);
}

describe('one WAIT at a time', () => {
  it('has the end of the turn asked for once, and speaks for all that came in it', async () => {
    const { line, schedule, durability } = open();
    const held = [durability.confirm(1, 0), durability.confirm(2, 0)];
    expect(schedule).toHaveBeenCalledTimes(1);
    expect(line.waits).toHaveLength(0);
    durability.send();
    durability.send();
    expect(line.waits).toHaveLength(1);
    expect(await stateOf(held[0] as Promise<void>)).toBe('held');
    line.waits[0]?.answer(1);
    expect(await Promise.all(held.map(stateOf))).toEqual(['told', 'told']);
    expect(schedule).toHaveBeenCalledTimes(1);
  });

  it('speaks for what was sent before it, and not for what was sent behind it', async () => {
    const { line, schedule, durability } = open();
    const before = durability.ticket;
    const first = durability.confirm(1, before);
    durability.send();
    const second = durability.confirm(1, before);
    const third = durability.confirm(1, durability.ticket);
    line.waits[0]?.answer(1);
    expect(await Promise.all([first, second, third].map(stateOf))).toEqual([
      'told',
      'told',
      'held',
    ]);
    expect(schedule).toHaveBeenCalledTimes(2);
    durability.send();
    line.waits[1]?.answer('1');
    expect(await stateOf(third)).toBe('told');
  });

  it('nor for what was sent again', async () => {
    const { line, durability } = open();
    const first = durability.confirm(1, durability.ticket);
    const ticket = durability.ticket;
    durability.send();
    durability.resent();
    const again = durability.confirm(1, ticket);
    line.waits[0]?.answer(1);
    expect(await Promise.all([first, again].map(stateOf))).toEqual(['told', 'held']);
    durability.send();
    // Behind the next one it is as ever.
    const later = durability.confirm(1, ticket);
    line.waits[1]?.answer(1);
    expect(await Promise.all([again, later].map(stateOf))).toEqual(['told', 'told']);
  });
});

describe('after one that was not confirmed', () => {
  it('nothing is waited for during a second, and all of it is counted', async () => {
    const { line, clock, durability } = open();
    const first = durability.confirm(2, 0);
    durability.send();
    const queued = durability.confirm(3, durability.ticket);
    line.waits[0]?.answer(0);
    expect(await stateOf(first)).toBe('told');
    expect(durability.unreplicated).toBe(2);
    durability.send();
    expect(await stateOf(queued)).toBe('told');
    expect(durability.unreplicated).toBe(5);
    clock.advance(999);
    expect(await stateOf(durability.confirm(1, durability.ticket))).toBe('told');
    durability.send();
    expect([durability.unreplicated, line.waits.length]).toEqual([6, 1]);
    clock.advance(1);
    const tried = durability.confirm(1, durability.ticket);
    durability.send();
    expect(line.waits).toHaveLength(2);
    line.waits[1]?.answer(1);
    expect(await stateOf(tried)).toBe('told');
    expect(durability.unreplicated).toBe(6);
  });

  it.each([
    ['a refusal', new Error('NOPERM this user has no permissions'), 'told', 1],
    ['a proxy that does not know it', new Error("ERR unknown command 'wait'"), 'told', 1],
    ['a lost connection', new Error('Connection is closed.'), 'Error: Connection is closed.', 0],
    ['a demotion', new Error('UNBLOCKED force unblock'), 'Error: UNBLOCKED force unblock', 0],
    [
      'a server that was demoted before',
      new Error('ERR WAIT cannot be used with replica instances.'),
      'Error: ERR WAIT cannot be used with replica instances.',
      0,
    ],
  ])('%s', async (_, error, state, unreplicated) => {
    const { line, durability } = open();
    const held = durability.confirm(1, 0);
    durability.send();
    line.waits[0]?.fail(error);
    expect(await stateOf(held)).toBe(state);
    expect(durability.unreplicated).toBe(unreplicated);
    const next = durability.confirm(1, durability.ticket);
    durability.send();
    expect(await stateOf(next)).toBe(unreplicated === 0 ? 'held' : 'told');
  });
});

describe('another connection', () => {
  it('confirms nothing of what was answered over the one before', async () => {
    const { line, durability } = open();
    const held = durability.confirm(1, 0);
    durability.send();
    line.stream = {};
    line.waits[0]?.answer(1);
    expect(await stateOf(held)).toMatch(/the client lost its connection before/);
  });

  it('nor does one that came before the WAIT was sent', async () => {
    const { line, durability } = open();
    const held = durability.confirm(1, 0);
    line.stream = {};
    durability.send();
    line.waits[0]?.answer(1);
    expect(await stateOf(held)).toMatch(/the client lost its connection before/);
  });

  it('where there is none at the end of the turn, the answer fails', async () => {
    const { line, durability } = open();
    line.status = 'close';
    const held = durability.confirm(1, 0);
    durability.send();
    expect(await stateOf(held)).toMatch(/the client lost its connection before/);
  });
});

describe('a WAIT without any answer', () => {
  it.each<[string, (line: Line) => void, string, number]>([
    ['is told and counted', () => {}, 'told', 1],
    ['fails where its connection ends', (line) => (line.status = 'close'), 'lost', 0],
    ['fails where there is another connection', (line) => (line.stream = {}), 'lost', 0],
  ])('%s', async (_, happens, state, unreplicated) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { line, durability } = open();
    const held = durability.confirm(1, 0);
    durability.send();
    happens(line);
    vi.advanceTimersByTime(1000);
    expect(await stateOf(held)).toContain(state);
    expect(durability.unreplicated).toBe(unreplicated);
  });
});

describe('on a Cluster', () => {
  it('goes to all primaries that are connected, and the fewest count', async () => {
    const lines = [new Line(), new Line(), new Line()] as [Line, Line, Line];
    lines[2].status = 'connecting';
    const { durability } = open(clusterOf(lines), 2);
    const held = durability.confirm(1, 0);
    durability.send();
    expect(lines.map(({ waits }) => waits.length)).toEqual([1, 1, 0]);
    lines[0].waits[0]?.answer(2);
    expect(await stateOf(held)).toBe('held');
    lines[1].waits[0]?.answer(1);
    expect(await stateOf(held)).toBe('told');
    expect(durability.unreplicated).toBe(1);
  });

  it('one under way speaks for nothing more: the call may have been redirected behind it', async () => {
    const line = new Line();
    const { durability } = open(clusterOf([line]));
    const first = durability.confirm(1, 0);
    durability.send();
    const second = durability.confirm(1, 0);
    line.waits[0]?.answer(1);
    expect(await Promise.all([first, second].map(stateOf))).toEqual(['told', 'held']);
  });

  it('a primary that left before the WAIT was sent is asked all the same, and its end heard', async () => {
    const lines = [new Line(), new Line()] as [Line, Line];
    const present = [...lines];
    const { durability } = open(clusterOf(present));
    const held = durability.confirm(1, 0);
    present.pop();
    durability.send();
    lines[0].waits[0]?.answer(1);
    lines[1].waits[0]?.fail(new Error('Connection is closed.'));
    expect(await stateOf(held)).toBe('Error: Connection is closed.');
  });

  it('one that came meanwhile is asked, too', async () => {
    const lines = [new Line(), new Line()] as [Line, Line];
    const present = [lines[0]];
    const { durability } = open(clusterOf(present));
    const held = durability.confirm(1, 0);
    present.push(lines[1]);
    durability.send();
    lines[0].waits[0]?.answer(1);
    expect(await stateOf(held)).toBe('held');
    lines[1].waits[0]?.answer(1);
    expect(await stateOf(held)).toBe('told');
  });
});
