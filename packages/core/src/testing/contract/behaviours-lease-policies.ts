import type { Policy } from '../../policy/policy.js';
import { type Behaviour, START_MS } from './contract-test.js';
import { facts } from './decisions.js';
import { during, expectEqual, expectTrue } from './expect.js';
import { fast, forEachLeased, Holder, leased } from './holder.js';

const NO_LEASE = { lease: false } as const;

/** Ways to look at a bucket: with a shorter lease, a longer one, and none. */
const READERS: readonly Policy[] = [fast(), fast({ lease: { ttl: '3s' } }), fast(NO_LEASE)];

/** Buckets of which permits are out, under other values of their policy. */
export const LEASE_POLICY_BEHAVIOURS: readonly Behaviour[] = [
  ...forEachLeased(
    'the policy without its lease sees what is out, and keeps it',
    async (subject, algorithm) => {
      const [policy, plain] = [leased(algorithm), leased(algorithm, NO_LEASE)];
      const holder = new Holder(subject, policy);
      const grant = await holder.hold(5);
      const look = facts(await subject.look(policy, 'key'));
      expectEqual('a look', facts(await subject.look(plain, 'key')), look);
      expectEqual('a cost of 6', (await subject.consume(plain, 'key', 6)).allowed, false);
      expectEqual('left after a cost of 2', (await subject.consume(plain, 'key', 2)).remaining, 3);
      expectEqual(
        'of another call',
        (await subject.consumeAll([{ policy: plain, key: 'key', cost: 4 }]))[0]?.allowed,
        false,
      );
      expectEqual('left once all came back', await holder.tell(grant, 0, 5), 8);
    },
  ),
  {
    name: 'token-bucket: claim: the policy without its lease writes off as late as with it',
    check: async (subject) => {
      const plain = fast(NO_LEASE);
      await new Holder(subject, fast()).hold(5);
      for (const [atMs, remaining] of [
        [500, 4],
        [1500, 4],
        [1999, 4],
        [2001, 9],
      ] as const) {
        subject.clock.set(START_MS + atMs);
        const decision = await subject.consume(plain, 'key');
        expectEqual(`left at ${atMs} ms`, decision.remaining, remaining);
      }
    },
  },
  {
    name: 'token-bucket: claim: a life is never longer than the store will keep it, whoever writes',
    check: async (subject) => {
      const [short, long] = READERS as [Policy, Policy];
      for (const [first, second] of [
        [short, long],
        [long, short],
        [short, short],
        [long, long],
      ] as const) {
        for (const reader of READERS) {
          for (const afterMs of [0, 500, 999, 1000, 1500, 2999]) {
            const key = `${first.lease?.ttlMs} then ${second.lease?.ttlMs} after ${afterMs} ms, read with ${reader.lease?.ttlMs}`;
            await during(key, async () => {
              await new Holder(subject, first, 1, key).hold(1);
              subject.clock.advance(afterMs);
              const { lifeMs } = await new Holder(subject, second, 2, key).hold(4);
              const half = Math.floor(lifeMs / 2);
              subject.clock.advance(half);
              await subject.consume(reader, key);
              subject.clock.advance(lifeMs - half - 1);
              const { remaining } = await subject.look(reader, key);
              expectTrue('at most 6 may be left while it lives', remaining <= 6, remaining);
              subject.clock.advance(6002 - lifeMs);
              expectEqual('left in the end', (await subject.look(reader, key)).remaining, 10);
            });
          }
        }
      }
    },
  },
  {
    name: 'token-bucket: claim: another ttl holds from the next epoch on, in this one no longer than it',
    check: async (subject) => {
      const holder = new Holder(subject, fast());
      const [short, long] = READERS as [Policy, Policy];
      for (const [atMs, policy, lifeMs] of [
        [0, short, 1000],
        [500, long, 1000],
        [1000, long, 3000],
        [2000, short, 1000],
        [3999, long, 3000],
      ] as const) {
        subject.clock.set(START_MS + atMs);
        holder.policy = policy;
        expectEqual(`lifeMs at ${atMs} ms`, (await holder.hold(1)).lifeMs, lifeMs);
      }
    },
  },
  ...forEachLeased(
    'a share that was lowered grants no more until enough is told',
    async (subject, algorithm) => {
      const holder = new Holder(subject, leased(algorithm));
      const grant = await holder.hold(5);
      holder.policy = leased(algorithm, { lease: { maxShare: 0.2 } });
      expectEqual('permits', (await holder.claim({ extra: 5 })).permits, 0);
      await holder.tell(grant, 3, 0);
      expectEqual('permits at the share', (await holder.claim({ extra: 5 })).permits, 0);
      await holder.tell(grant, 1, 0);
      expectEqual('permits below it', (await holder.claim({ extra: 5 })).permits, 1);
    },
  ),
  ...forEachLeased(
    'a limit that was lowered below what is out lets nothing more through',
    async (subject, algorithm) => {
      const holder = new Holder(subject, leased(algorithm));
      await holder.hold(5);
      holder.policy = leased(algorithm, { limit: 4 });
      const { decisions, permits } = await holder.claim({ costs: [1], extra: 1 });
      expectEqual('a cost of 1, and permits', [decisions[0]?.allowed, permits], [false, 0]);
    },
  ),
  ...forEachLeased('after a change of the window', async (subject, algorithm) => {
    const holder = new Holder(subject, leased(algorithm));
    const grant = await holder.hold(5);
    holder.policy = leased(algorithm, { window: '20s' });
    expectEqual('left', (await subject.look(holder.policy, 'key')).remaining, 5);
    // What the sliding window counts in another one is spent.
    const back = algorithm === 'sliding-window' ? 5 : 10;
    expectEqual('left once all came back', await holder.tell(grant, 0, 5), back);
  }),
];
