import type { Policy } from '../../policy/policy.js';
import type { Step } from './case.js';
import { type Behaviour, forEachAlgorithm, policyOf } from './contract-test.js';
import { facts } from './decisions.js';
import { during, expectEqual } from './expect.js';
import { perform } from './replay.js';
import type { Subject } from './subject.js';

type Call = Omit<Step, 'atMs' | 'policy'> & { readonly limit?: number };

/** Every kind of call on one bucket, under one limit and another. */
const CALLS: readonly Call[] = [
  { cost: 3 },
  { cost: 4 },
  { cost: 2 },
  { cost: 1 },
  { cost: 1 },
  { do: 'refund', cost: 2 },
  { do: 'peek' },
  { cost: 1 },
  { do: 'overcharge', cost: 3 },
  { cost: 1 },
  { do: 'reset' },
  { cost: 7 },
  { cost: 3, limit: 12 },
  { cost: 1, limit: 12 },
  { cost: 1 },
  { cost: 9 },
  { do: 'reset', limit: 12 },
  { cost: 8 },
  { cost: 1 },
];

/** Calls that are made in one turn of the event loop. */
export const AT_ONCE_BEHAVIOURS: readonly Behaviour[] = [
  ...forEachAlgorithm(
    'A-16 of 100 checks at once on a limit of 5, the first 5 are allowed',
    async (subject, algorithm) => {
      const policy = policyOf({ limit: 5, window: '10s', algorithm });
      await during('by tryConsume or consume', () =>
        expectInOrder(policy, Array(100).fill(1), (cost) => subject.consume(policy, 'a', cost)),
      );
      await during('by consume alone', () =>
        expectInOrder(policy, Array(100).fill(1), (cost) =>
          subject.store.consume(policy, 'b', cost),
        ),
      );
    },
  ),
  ...forEachAlgorithm(
    'checks of any cost at once are decided in the order they were made',
    (subject, algorithm) => {
      const policy = policyOf({ limit: 900, window: '1h', algorithm });
      const costs = Array.from({ length: 1500 }, (_, i) => (i * 7) % 5);
      return expectInOrder(policy, costs, (cost) => subject.store.consume(policy, 'key', cost));
    },
  ),
  ...forEachAlgorithm(
    'checks of 400 buckets at once, 4 of each on a limit of 3',
    async (subject, algorithm) => {
      const policy = policyOf({ limit: 3, window: '1h', algorithm });
      const keys = Array.from({ length: 1600 }, (_, i) => `key-${i % 400}`);
      const decisions = await Promise.all(keys.map((key) => subject.consume(policy, key)));
      expectEqual(
        'remaining, check by check',
        decisions.map((it) => it.remaining),
        keys.map((_, i) => Math.max(0, 2 - Math.floor(i / 400))),
      );
      expectEqual('checks denied', decisions.filter((it) => !it.allowed).length, 400);
    },
  ),
  ...forEachAlgorithm(
    'calls of every kind at once come out as one after the other',
    async (subject, algorithm) => {
      const make = (key: string, { limit = 8, ...step }: Call) =>
        perform(subject, policyOf({ limit, window: '10s', overdraft: 2, algorithm }), key, step);
      const oneByOne = [];
      for (const call of CALLS) oneByOne.push(await make('one by one', call));
      const atOnce = await Promise.all(CALLS.map((call) => make('at once', call)));
      for (const [i, decision] of atOnce.entries()) {
        const expected = oneByOne[i];
        expectEqual(
          `call ${i + 1} of ${CALLS.length}`,
          decision && facts(decision),
          expected && facts(expected),
        );
      }
    },
  ),
];

/** Makes checks at once; each takes what fits of what those before it have left. */
async function expectInOrder(
  policy: Policy,
  costs: readonly number[],
  consume: (cost: number) => ReturnType<Subject['consume']>,
): Promise<void> {
  const decisions = await Promise.all(costs.map(consume));
  let left = policy.limit;
  decisions.forEach(({ allowed, remaining }, i) => {
    const cost = costs[i] as number;
    const fits = cost <= left;
    if (fits) left -= cost;
    const what = `check ${i + 1} of ${costs.length}, of cost ${cost}`;
    expectEqual(what, { allowed, remaining }, { allowed: fits, remaining: left });
  });
}
