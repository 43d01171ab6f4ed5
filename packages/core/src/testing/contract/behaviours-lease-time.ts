import type { Policy } from '../../policy/policy.js';
import { type Behaviour, START_MS } from './contract-test.js';
import { during, expectEqual, expectTrue } from './expect.js';
import { fast, forEachLeased, Holder, leased, report, twoHolders } from './holder.js';
import type { Subject } from './subject.js';

const ABANDONED_MS = [1999, 2000, 2999, 3000, 4000] as const;
/** What a lease of 50 of 100 per 2 s, of which nothing more is heard, leaves at those times. */
const ABANDONED: Readonly<Record<string, readonly number[]>> = {
  // Written off after 2 s, which is twice the ttl, and refilled in the second that follows.
  'token-bucket': [50, 50, 99, 100, 100],
  'fixed-window': [50, 100, 100, 100, 100],
  // Counted as spent in the window it was granted in.
  'sliding-window': [50, 50, 74, 75, 100],
};

/** What is out while time goes on: refill, and permits of which nothing more is heard. */
export const LEASE_TIME_BEHAVIOURS: readonly Behaviour[] = [
  {
    name: 'token-bucket: claim: refill never makes up for what is out',
    check: async (subject) => {
      const policy = leased('token-bucket', { lease: { ttl: '1m' } });
      await new Holder(subject, policy).hold(5);
      await subject.consume(policy, 'key', 2);
      await expectLeft(subject, policy, [
        [0, 3],
        [1000, 4],
        [2000, 5],
        [3000, 5],
        [60_000, 5],
        [119_999, 5],
        [120_000, 5],
        [121_000, 6],
        [125_000, 10],
      ]);
    },
  },
  {
    // Told first and refilled then, eight would be left at 4 s: with the three that were spent a
    // moment ago and the two that are still held thirteen at once, of a burst of ten.
    name: 'token-bucket: claim: what is told spent makes room for refill from then on, not from before',
    check: async (subject) => {
      const holder = new Holder(subject, leased('token-bucket', { lease: { ttl: '10s' } }));
      const grant = await holder.hold(5);
      subject.clock.set(START_MS + 4000);
      const { decisions, left } = await holder.claim({
        reports: [report(grant, 3, 0)],
        costs: [6],
      });
      expectEqual('a cost of 6', decisions[0]?.allowed, false);
      expectEqual('left', left.remaining, 5);
      await expectLeft(subject, holder.policy, [
        [5000, 6],
        [6999, 7],
        [9999, 8],
      ]);
      expectEqual('left once the others are told', await holder.tell(grant, 2, 0), 8);
      await expectLeft(subject, holder.policy, [
        [11_000, 9],
        [12_000, 10],
      ]);
    },
  },
  {
    name: 'token-bucket: claim: what is returned after a wait is added to the refill that had room',
    check: async (subject) => {
      const holder = new Holder(subject, leased('token-bucket', { lease: { ttl: '10s' } }));
      const grant = await holder.hold(5);
      await subject.consume(holder.policy, 'key', 3);
      subject.clock.set(START_MS + 1000);
      expectEqual('left once 4 came back', await holder.tell(grant, 1, 4), 7);
      await expectLeft(subject, holder.policy, [
        [3000, 9],
        [4000, 10],
      ]);
    },
  },
  {
    name: 'token-bucket: claim: nothing is written off while it may be spent, all by twice the ttl',
    check: async (subject) => {
      for (const afterMs of [999, 500, 1, 0]) {
        const key = `granted ${afterMs} ms into an epoch`;
        await during(key, async () => {
          const start = subject.clock.nowMs();
          const [a, b] = twoHolders(subject, fast(), key);
          await a.hold(1);
          subject.clock.advance(afterMs);
          const { lifeMs } = await b.hold(2);
          expectEqual('lifeMs', lifeMs, 1000);
          subject.clock.advance(lifeMs - 1);
          expectEqual('left at the end of its life', await left(subject, b.policy, key), 7);
          subject.clock.set(start + 2000);
          expectEqual('left when it is written off', await left(subject, b.policy, key), 7);
          subject.clock.advance(1);
          expectEqual('left after that', await left(subject, b.policy, key), 10);
        });
      }
    },
  },
  {
    name: 'token-bucket: claim: each epoch is written off at the end of the next',
    check: async (subject) => {
      const holder = new Holder(subject, fast());
      for (const [atMs, permits, remaining] of [
        [0, 1, 9],
        [999, 1, 8],
        [1000, 2, 6],
        [1999, 1, 5],
        [2001, 0, 7],
        [2500, 2, 5],
        [3001, 1, 7],
        [4001, 0, 9],
        [5001, 0, 10],
      ] as const) {
        subject.clock.set(START_MS + atMs);
        const grant = await holder.claim({ extra: permits });
        expectEqual(`at ${atMs} ms`, [grant.permits, grant.left.remaining], [permits, remaining]);
      }
    },
  },
  {
    name: 'token-bucket: claim: where nothing is out an epoch begins with a grant',
    check: async (subject) => {
      const holder = new Holder(subject, fast());
      const { epoch, lifeMs } = await holder.hold(5);
      await holder.claim({ reports: [{ epoch, spent: 2, returned: 3 }] });
      subject.clock.set(START_MS + 1500);
      expectEqual('lifeMs', (await holder.hold(5)).lifeMs, lifeMs);
      await expectLeft(subject, holder.policy, [
        [3499, 5],
        [3500, 5],
        [3501, 10],
      ]);
    },
  },
  ...forEachLeased(
    'O-12 permits of one that dies are back in the next window, or by twice the ttl',
    async (subject, algorithm) => {
      const policy = leased(algorithm, { limit: 100, window: '2s', lease: true });
      await new Holder(subject, policy).hold(50);
      const expected = ABANDONED[algorithm] as readonly number[];
      await expectLeft(
        subject,
        policy,
        ABANDONED_MS.map((atMs, i) => [atMs, expected[i] as number]),
      );
      const calls = Array.from({ length: 200 }, () => subject.consume(policy, 'key'));
      const allowed = (await Promise.all(calls)).filter((it) => it.allowed);
      expectEqual('of 200 calls then', allowed.length, 100);
    },
  ),
  ...forEachLeased(
    'O-12 one that closes gives back what it did not spend',
    async (subject, algorithm) => {
      const policy = leased(algorithm, { limit: 100, window: '2s', lease: true });
      const holder = new Holder(subject, policy);
      const grant = await holder.hold(50);
      expectEqual('left', await holder.tell(grant, 0, 50), 100);
      const { permits } = await new Holder(subject, policy, 2).claim({ extra: 50 });
      expectEqual('permits for another', permits, 50);
    },
  ),
  ...forEachLeased(
    'on a clock that steps back nothing is written off early',
    async (subject, algorithm) => {
      for (const [atMs, stepMs] of [
        [0, 400],
        [0, 1000],
        [900, 900],
        [500, 20_000],
      ] as const) {
        for (const written of [true, false]) {
          const key = `back by ${stepMs} ms at ${atMs} ms, ${written ? 'then written' : 'only read'}`;
          await during(key, async () => {
            const policy = algorithm === 'token-bucket' ? fast() : leased(algorithm);
            subject.clock.set(START_MS);
            const { lifeMs } = await new Holder(subject, policy, 1, key).hold(5);
            subject.clock.advance(atMs);
            await subject.consume(policy, key);
            subject.clock.advance(-stepMs);
            if (written) await subject.consume(policy, key);
            for (const afterMs of [0, 1, Math.floor((lifeMs - atMs) / 2), lifeMs - atMs - 1]) {
              subject.clock.set(START_MS + atMs - stepMs + afterMs);
              const remaining = await left(subject, policy, key);
              expectTrue(`at most 5 may be left ${afterMs} ms later`, remaining <= 5, remaining);
            }
            if (algorithm !== 'token-bucket' || !written) return;
            subject.clock.set(START_MS + atMs - stepMs + 2 * lifeMs + 1);
            expectEqual('left in the end', await left(subject, policy, key), 10);
          });
        }
      }
    },
  ),
];

async function left(subject: Subject, policy: Policy, key: string): Promise<number> {
  return (await subject.look(policy, key)).remaining;
}

async function expectLeft(
  subject: Subject,
  policy: Policy,
  times: readonly (readonly [atMs: number, left: number])[],
): Promise<void> {
  for (const [atMs, expected] of times) {
    subject.clock.set(START_MS + atMs);
    expectEqual(`left at ${atMs} ms`, await left(subject, policy, 'key'), expected);
  }
}
