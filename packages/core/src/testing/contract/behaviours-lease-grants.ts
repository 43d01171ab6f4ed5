import type { Policy } from '../../policy/policy.js';
import { type Behaviour, policyOf } from './contract-test.js';
import { facts } from './decisions.js';
import { during, expectEqual } from './expect.js';
import { forEachLeased, Holder, leased, twoHolders } from './holder.js';

/** Of a limit of ten: the share that may be held, permits spent before, permits asked and granted. */
const GRANTS: readonly (readonly [maxShare: number, spent: number, extra: number, got: number])[] =
  [
    [0.5, 0, 3, 3],
    [0.5, 0, 5, 5],
    [0.5, 0, 6, 5],
    [0.5, 7, 5, 3],
    [0.5, 10, 5, 0],
    [0.25, 0, 5, 2],
    [0.01, 0, 5, 1],
    [1, 0, 9_007_199_254_740_991, 10],
    [1, 4, 20, 6],
  ];

/** How many permits a claim grants, and to whom they are there then. */
export const LEASE_GRANT_BEHAVIOURS: readonly Behaviour[] = [
  ...forEachLeased(
    'grants what is asked, as far as it is there and within the share',
    async (subject, algorithm) => {
      for (const [maxShare, spent, extra, got] of GRANTS) {
        const key = `share ${maxShare}, ${spent} spent, ${extra} asked`;
        await during(key, async () => {
          const policy = leased(algorithm, { lease: { maxShare } });
          await subject.consume(policy, key, spent);
          const { permits, left } = await new Holder(subject, policy, 1, key).claim({ extra });
          expectEqual(
            'permits and what is left',
            [permits, left.remaining],
            [got, 10 - spent - got],
          );
        });
      }
    },
  ),
  ...forEachLeased('grants nothing below zero', async (subject, algorithm) => {
    const policy = leased(algorithm);
    await subject.overcharge(policy, 'key', 15);
    expectEqual('permits', (await new Holder(subject, policy).claim({ extra: 5 })).permits, 0);
    const none = policyOf({ limit: 0, window: '1s', algorithm, lease: true }, 'none');
    expectEqual('of limit 0', (await new Holder(subject, none).claim({ extra: 5 })).permits, 0);
  }),
  ...forEachLeased(
    'what all hold together stays within the share, and what they told makes room',
    async (subject, algorithm) => {
      const [a, b] = twoHolders(subject, leased(algorithm));
      const first = await a.hold(3);
      expectEqual('asked by another', (await b.claim({ extra: 9 })).permits, 2);
      expectEqual('and again', (await b.claim({ extra: 9 })).permits, 0);
      expectEqual('left once two are spent', await a.tell(first, 2, 0), 5);
      expectEqual('asked then', (await b.claim({ extra: 9 })).permits, 2);
      expectEqual('left once one came back', await a.tell(first, 0, 1), 4);
      expectEqual('asked in the end', (await b.claim({ extra: 9 })).permits, 1);
    },
  ),
  ...forEachLeased(
    'permits that are granted are there for nobody else',
    async (subject, algorithm) => {
      const policy = leased(algorithm, { lease: { maxShare: 1 } });
      const [a, b] = twoHolders(subject, policy);
      const { left } = await a.hold(7);
      expectEqual('the grant says', left.remaining, 3);
      expectEqual('a look', facts(await subject.look(policy, 'key')), facts(left));
      expectEqual('a cost of 4', (await subject.consume(policy, 'key', 4)).allowed, false);
      const { decisions, permits } = await b.claim({ costs: [4], extra: 9 });
      expectEqual('a cost of 4 in a claim', decisions[0]?.allowed, false);
      expectEqual('asked by another', permits, 3);
      expectEqual('a cost of 1', (await subject.consume(policy, 'key')).allowed, false);
    },
  ),
  ...forEachLeased('buckets are leased apart', async (subject, algorithm) => {
    const [one, two] = ['one', 'two'].map((name) =>
      policyOf({ limit: 10, window: '10s', algorithm, lease: true }, name),
    ) as [Policy, Policy];
    const ann = new Holder(subject, one, 1, 'ann');
    const grant = await ann.hold(5);
    await new Holder(subject, one, 1, 'bob').hold(4);
    await new Holder(subject, two, 1, 'ann').hold(3);
    await ann.tell(grant, 0, 5);
    expectEqual(
      'remaining',
      [
        (await subject.look(one, 'ann')).remaining,
        (await subject.look(one, 'bob')).remaining,
        (await subject.look(two, 'ann')).remaining,
      ],
      [10, 6, 7],
    );
  }),
  ...forEachLeased('calls of several buckets see what is out', async (subject, algorithm) => {
    const policy = leased(algorithm);
    const plain = policyOf({ limit: 10, window: '1h' }, 'plain');
    const charge = async (cost: number, allowed: boolean, left: readonly number[]) => {
      const decisions = await subject.consumeAll([
        { policy, key: 'key', cost },
        { policy: plain, key: 'key', cost: 1 },
      ]);
      expectEqual(`a cost of ${cost}`, decisions[0]?.allowed, allowed);
      const looks = [await subject.look(policy, 'key'), await subject.look(plain, 'key')];
      expectEqual(
        `left after a cost of ${cost}`,
        looks.map((it) => it.remaining),
        left,
      );
    };
    const holder = new Holder(subject, policy);
    const grant = await holder.hold(5);
    await charge(6, false, [5, 10]);
    await charge(2, true, [3, 9]);
    expectEqual('left once all came back', await holder.tell(grant, 0, 5), 8);
    await charge(8, true, [0, 8]);
  }),
  {
    name: 'token-bucket: claim: a part of a permit is not granted, and stays',
    check: async (subject) => {
      const policy = leased('token-bucket');
      await subject.consume(policy, 'key', 10);
      subject.clock.advance(3500);
      const { permits, left } = await new Holder(subject, policy).claim({ extra: 5 });
      expectEqual('permits and refillAfterMs', [permits, left.refillAfterMs], [3, 500]);
      subject.clock.advance(500);
      expectEqual('remaining', (await subject.look(policy, 'key')).remaining, 1);
    },
  },
];
