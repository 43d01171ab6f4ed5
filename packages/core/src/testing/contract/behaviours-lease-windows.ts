import { type Behaviour, START_MS } from './contract-test.js';
import { during, expectEqual } from './expect.js';
import { forEachLeased, Holder, leased, report, twoHolders } from './holder.js';
import type { Subject } from './subject.js';

/** Where windows are counted a lease dies with its window. */
export const LEASE_WINDOW_BEHAVIOURS: readonly Behaviour[] = [
  ...(['fixed-window', 'sliding-window'] as const).map((algorithm) => ({
    name: `${algorithm}: claim: no lease outlives its window`,
    check: async (subject: Subject) => {
      for (const [ttl, atMs, lifeMs] of [
        ['1s', 0, 1000],
        ['1s', 9000, 1000],
        ['1s', 9001, 999],
        ['1s', 9999, 1],
        ['1m', 0, 10_000],
        ['1m', 4000, 6000],
      ] as const) {
        const key = `ttl ${ttl}, at ${atMs} ms`;
        const policy = leased(algorithm, { lease: { ttl } });
        subject.clock.set(START_MS);
        await subject.consume(policy, key);
        subject.clock.set(START_MS + atMs);
        const grant = await new Holder(subject, policy, 1, key).hold(3);
        expectEqual(`${key}: lifeMs`, grant.lifeMs, lifeMs);
      }
    },
  })),
  ...(['fixed-window', 'sliding-window'] as const).map((algorithm) => ({
    name: `${algorithm}: claim: what is out counts as spent once the clock is back behind its window`,
    check: async (subject: Subject) => {
      const holder = new Holder(subject, leased(algorithm));
      const grant = await holder.hold(5);
      subject.clock.advance(-400);
      expectEqual(
        'left after a cost of 1',
        (await subject.consume(holder.policy, 'key')).remaining,
        4,
      );
      expectEqual('left once all came back', await holder.tell(grant, 0, 5), 4);
    },
  })),
  {
    name: 'fixed-window: claim: a grant begins a window, and others do not move it',
    check: async (subject) => {
      const holder = new Holder(subject, leased('fixed-window', { lease: { ttl: '1m' } }));
      subject.clock.advance(3700);
      const grant = await holder.hold(5);
      expectEqual('lifeMs', grant.lifeMs, 10_000);
      subject.clock.advance(400);
      expectEqual('left once all but one came back', await holder.tell(grant, 1, 4), 9);
      subject.clock.advance(600);
      await subject.consume(holder.policy, 'key', 2);
      const look = await subject.look(holder.policy, 'key');
      expectEqual('left, and until', [look.remaining, look.resetAfterMs], [7, 9000]);
    },
  },
  {
    name: 'fixed-window: claim: a late return of an old window does not touch the new one',
    check: async (subject) => {
      for (const [grantedMs, toldMs] of [
        [9500, 10_000],
        [9500, 10_400],
        [9999, 10_998],
        [0, 10_000],
      ] as const) {
        const key = `granted at ${grantedMs} ms, told at ${toldMs} ms`;
        await during(key, async () => {
          const holder = new Holder(subject, leased('fixed-window'), 1, key);
          subject.clock.set(START_MS);
          await subject.consume(holder.policy, key);
          subject.clock.set(START_MS + grantedMs);
          const grant = await holder.hold(5);
          subject.clock.set(START_MS + toldMs);
          await subject.consume(holder.policy, key, 3);
          expectEqual('left', await holder.tell(grant, 1, 4), 7);
        });
      }
    },
  },
  {
    name: 'sliding-window: claim: what is returned of the previous window leaves its count',
    check: async (subject) => {
      const holder = new Holder(subject, leased('sliding-window'));
      subject.clock.set(START_MS + 9500);
      const grant = await holder.hold(5);
      subject.clock.set(START_MS + 10_500);
      // 5 × 9500 ÷ 10,000 of the previous window is 4.75.
      const { remaining } = await subject.consume(holder.policy, 'key', 2);
      expectEqual('left before', remaining, 3);
      // 1 × 9500 ÷ 10,000.
      expectEqual('left once four came back', await holder.tell(grant, 0, 4), 7);
      subject.clock.set(START_MS + 10_999);
      expectEqual('left once the last came back', await holder.tell(grant, 0, 1), 8);
    },
  },
  {
    name: 'sliding-window: claim: an epoch ends with its window, however short it is then',
    check: async (subject) => {
      const [a, b] = twoHolders(subject, leased('sliding-window'));
      subject.clock.set(START_MS + 8600);
      await a.hold(2);
      subject.clock.set(START_MS + 9700);
      const grant = await b.hold(3);
      subject.clock.set(START_MS + 10_000);
      expectEqual('left before', (await subject.consume(a.policy, 'key', 3)).remaining, 2);
      expectEqual('left once three came back', await b.tell(grant, 0, 3), 5);
      subject.clock.set(START_MS + 19_999);
      expectEqual('left at the end', await remainingOf(subject, a), 6);
    },
  },
  {
    name: 'sliding-window: claim: of two windows each has its own returns',
    check: async (subject) => {
      const holder = new Holder(subject, leased('sliding-window'));
      subject.clock.set(START_MS + 9500);
      const old = await holder.hold(3);
      subject.clock.set(START_MS + 10_500);
      const young = await holder.hold(2);
      await holder.claim({ reports: [report(old, 0, 2), report(young, 0, 1)] });
      subject.clock.set(START_MS + 15_000);
      // 1 × 5000 ÷ 10,000 of the previous window, and 1.
      expectEqual('left half a window later', await remainingOf(subject, holder), 8);
      subject.clock.set(START_MS + 19_999);
      expectEqual('left at its end', await remainingOf(subject, holder), 8);
      subject.clock.set(START_MS + 20_000);
      expectEqual('left in the next', await remainingOf(subject, holder), 9);
    },
  },
  ...forEachLeased(
    'O-10 what was spent in old windows is not charged to the new one',
    async (subject, algorithm) => {
      const policy = leased(algorithm, { limit: 5, lease: { maxShare: 1 } });
      const holder = new Holder(subject, policy);
      const grants = [await holder.hold(5)];
      // Each grant is of a window of its own, and the holder is then cut off for longer than one.
      subject.clock.set(START_MS + 30_000);
      grants.push(await holder.hold(5));
      subject.clock.set(START_MS + 60_000);
      const { decisions } = await holder.claim({
        reports: grants.map((grant) => report(grant, 5, 0)),
        costs: [1, 1, 1, 1, 1, 1],
      });
      expectEqual(
        'allowed',
        decisions.map((it) => it.allowed),
        [true, true, true, true, true, false],
      );
    },
  ),
];

async function remainingOf(subject: Subject, { policy }: Holder): Promise<number> {
  return (await subject.look(policy, 'key')).remaining;
}
