import { expect, it } from 'vitest';
import { makeDecision } from '../../src/algorithms/make-decision.js';
import type { Decision } from '../../src/decision/decision.js';
import { parsePolicy } from '../../src/policy/policy.js';
import { consumeInTurn } from '../../src/store/consume-in-turn.js';
import type { Charge } from '../../src/store/store.js';

const charge = (key: string, cost = 1, shadow = false): Charge => ({
  policy: parsePolicy('p', { limit: 100, window: '1s', shadow }, ''),
  key,
  cost,
});

/** Buckets that have no room, or cannot be asked, and what they were asked. */
function buckets({ full = '', broken = '', refuses = '' } = {}) {
  const said: string[] = [];
  let nowMs = 0;
  const decide = ({ policy, key, cost }: Charge, remaining: number): Decision =>
    makeDecision(policy, cost === 0 || !full.includes(key), remaining, 9, 9, 9, ++nowMs, 'store');
  const ask = async (what: 'consume' | 'look', group: readonly Charge[]) => {
    said.push(`${what} ${group.map(({ key }) => key).join('+')}`);
    if (group.some(({ key }) => broken.includes(key))) throw new Error('no answer');
    return group.map((own) => decide(own, 1));
  };
  const refund = async (own: Charge, takenAtMs: number) => {
    said.push(`back ${own.cost} ${own.key} at ${takenAtMs}`);
    if (refuses.includes(own.key)) throw new Error('no answer to a refund');
    return decide({ ...own, cost: 0 }, 2);
  };
  return {
    said,
    run: (groups: readonly (readonly Charge[])[]) => consumeInTurn(groups, ask, refund),
  };
}

const [a, b, c] = [charge('a', 2), charge('b', 3), charge('c')];

it('charges one group after the other', async () => {
  const { said, run } = buckets();
  const decisions = await run([[a], [b, c]]);
  expect(said).toEqual(['consume a', 'consume b+c']);
  expect([a, b, c].map((own) => decisions.get(own)?.allowed)).toEqual([true, true, true]);
});

it('puts back what came before a denial, and only looks at what is behind it', async () => {
  const { said, run } = buckets({ full: 'b' });
  const decisions = await run([[a], [b], [c]]);
  expect(said).toEqual(['consume a', 'consume b', 'look c', 'back 2 a at 1']);
  expect(decisions.get(b)).toMatchObject({ allowed: false, retryAfterMs: 9 });
  // What it found after it was put back.
  expect(decisions.get(a)).toMatchObject({ allowed: true, remaining: 2 });
  expect(decisions.get(c)).toMatchObject({ allowed: true, remaining: 1 });
});

it('puts back nothing of the group that was denied', async () => {
  const { said, run } = buckets({ full: 'b' });
  await run([[a, b], [c]]);
  expect(said).toEqual(['consume a+b', 'look c']);
});

it('is denied where only a look is', async () => {
  const { said, run } = buckets({ full: 'bc' });
  const decisions = await run([[a], [b], [c]]);
  expect(said).toEqual(['consume a', 'consume b', 'look c', 'back 2 a at 1']);
  expect(decisions.get(c)?.allowed).toBe(false);
});

it('puts back all that was charged where one cannot be asked', async () => {
  const { said, run } = buckets({ broken: 'c' });
  await expect(run([[a], [b], [c]])).rejects.toThrow('no answer');
  expect(said.slice(3)).toEqual(['back 2 a at 1', 'back 3 b at 2']);
});

it('puts back the others where one cannot be put back, and says what was wrong first', async () => {
  const { said, run } = buckets({ broken: 'c', refuses: 'a' });
  await expect(run([[a], [b], [c]])).rejects.toThrow(/^no answer$/);
  expect(said.slice(3)).toEqual(['back 2 a at 1', 'back 3 b at 2']);
});

it('says so where a denial cannot be undone', async () => {
  const { run } = buckets({ full: 'b', refuses: 'a' });
  await expect(run([[a], [b]])).rejects.toThrow('no answer to a refund');
});

it('puts back nothing of a look and of a shadow policy that would have denied', async () => {
  const [look, watched] = [charge('l', 0), charge('w', 1, true)];
  const { said, run } = buckets({ full: 'bw' });
  const decisions = await run([[look], [watched], [a], [b]]);
  expect(said.slice(4)).toEqual(['back 2 a at 3']);
  expect(decisions.get(watched)).toMatchObject({ allowed: true, wouldDeny: true });
});
