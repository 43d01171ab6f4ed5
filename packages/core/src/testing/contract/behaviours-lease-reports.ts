import type { Behaviour } from './contract-test.js';
import { facts } from './decisions.js';
import { during, expectEqual } from './expect.js';
import { fast, forEachLeased, Holder, leased, report, twoHolders } from './holder.js';

/** What a claim tells of permits that were granted, and what comes of it. */
export const LEASE_REPORT_BEHAVIOURS: readonly Behaviour[] = [
  ...forEachLeased('permits that are returned are back at once', async (subject, algorithm) => {
    const holder = new Holder(subject, leased(algorithm));
    const grant = await holder.hold(5);
    expectEqual('left once three came back', await holder.tell(grant, 0, 3), 8);
    expectEqual('left once one was spent', await holder.tell(grant, 1, 0), 8);
    expectEqual('left once the last came back', await holder.tell(grant, 0, 1), 9);
  }),
  ...forEachLeased(
    'what is returned is there for the costs and the grant of its claim',
    async (subject, algorithm) => {
      const [a, b] = twoHolders(subject, leased(algorithm));
      const grant = await a.hold(5);
      await b.claim({ costs: [5] });
      const { decisions, permits, left } = await a.claim({
        reports: [report(grant, 1, 4)],
        costs: [3, 2],
        extra: 9,
      });
      expectEqual(
        'allowed',
        decisions.map((it) => it.allowed),
        [true, false],
      );
      expectEqual('permits and what is left', [permits, left.remaining], [1, 0]);
    },
  ),
  ...forEachLeased('what one returns leaves what others hold', async (subject, algorithm) => {
    const [a, b] = twoHolders(subject, leased(algorithm));
    const [of3, of2] = [await a.hold(3), await b.hold(2)];
    expectEqual('left once the first returned', await a.tell(of3, 0, 3), 8);
    expectEqual('left once the second did', await b.tell(of2, 1, 1), 9);
  }),
  ...forEachLeased('no more comes back than was out', async (subject, algorithm) => {
    const policy = leased(algorithm, { limit: 20, window: '1h' });
    for (const afterMs of [0, 1200]) {
      const key = `told after ${afterMs} ms`;
      await during(key, async () => {
        const [a, b] = twoHolders(subject, policy, key);
        const grant = await a.hold(5);
        await subject.consume(policy, key, 3);
        subject.clock.advance(afterMs);
        expectEqual('left once 4 of 5 were spent, and 4 returned', await a.tell(grant, 4, 4), 13);
        expectEqual('left once more returned', await a.tell(grant, 0, 9), 13);
        expectEqual('left once more was spent', await a.tell(grant, 9, 0), 13);
        expectEqual('permits for another', (await b.claim({ extra: 20 })).permits, 10);
      });
    }
  }),
  ...forEachLeased(
    'a report of permits that were never granted changes nothing',
    async (subject, algorithm) => {
      const holder = new Holder(subject, leased(algorithm));
      await subject.consume(holder.policy, 'key', 5);
      const before = await subject.look(holder.policy, 'key');
      const { epoch } = await new Holder(subject, holder.policy, 2, 'another').hold(2);
      for (const unknown of [0, 1, epoch, epoch + 12_345]) {
        const reports = [{ epoch: unknown, spent: 1, returned: 4 }];
        const { left } = await holder.claim({ reports });
        expectEqual(`left after epoch ${unknown}`, facts(left), facts(before));
      }
    },
  ),
  ...forEachLeased(
    'S-17 calls from leases count once, however often they are told',
    async (subject, algorithm) => {
      const policy = leased(algorithm, { limit: 100, window: '1d' });
      const holder = new Holder(subject, policy);
      const grant = await holder.hold(10);
      for (const spent of [4, 3, 1]) {
        subject.clock.advance(100);
        await holder.tell(grant, spent, 0);
        expectEqual('sent once more', await subject.claim(holder.latest), undefined);
      }
      expectEqual(
        'two that are still held count',
        (await subject.look(policy, 'key')).remaining,
        90,
      );
      const { decisions } = await holder.claim({ reports: [report(grant, 0, 2)], costs: [1, 1] });
      expectEqual('remaining', decisions[1]?.remaining, 90);
    },
  ),
  {
    name: 'token-bucket: claim: a report is of the epoch it names',
    check: async (subject) => {
      const [a, b] = twoHolders(subject, fast());
      const old = await a.hold(3);
      subject.clock.advance(1200);
      const young = await b.hold(2);
      subject.clock.advance(300);
      expectEqual('left once two of three came back', await a.tell(old, 1, 2), 7);
      subject.clock.advance(1);
      expectEqual(
        'left once the third was refilled',
        (await subject.look(a.policy, 'key')).remaining,
        8,
      );
      subject.clock.advance(600);
      const { left } = await b.claim({ reports: [report(old, 0, 3), report(young, 0, 1)] });
      expectEqual('left once one of two came back', left.remaining, 9);
      subject.clock.advance(500);
      expectEqual('while the other is out', (await subject.look(a.policy, 'key')).remaining, 9);
    },
  },
  ...forEachLeased('one claim tells of several epochs', async (subject, algorithm) => {
    const holder = new Holder(subject, leased(algorithm, { window: '1h' }));
    const old = await holder.hold(3);
    subject.clock.advance(1200);
    const young = await holder.hold(2);
    const { left } = await holder.claim({ reports: [report(young, 1, 1), report(old, 1, 2)] });
    expectEqual('left', left.remaining, 8);
  }),
  ...forEachLeased(
    'a report of an epoch that is over changes nothing',
    async (subject, algorithm) => {
      const policy = leased(algorithm, { window: '1h' });
      for (const [afterMs, left] of [
        [1999, 10],
        [2000, 5],
        [60_000, 5],
      ] as const) {
        const holder = new Holder(subject, policy, 1, `after ${afterMs} ms`);
        const grant = await holder.hold(5);
        subject.clock.advance(afterMs);
        expectEqual(`left after ${afterMs} ms`, await holder.tell(grant, 0, 5), left);
      }
    },
  ),
  ...forEachLeased('a reset forgets what is out', async (subject, algorithm) => {
    const [a, b] = twoHolders(subject, leased(algorithm));
    const grant = await a.hold(5);
    await subject.consume(a.policy, 'key', 3);
    await subject.reset(a.policy, 'key');
    expectEqual('resetAfterMs', (await subject.look(a.policy, 'key')).resetAfterMs, 0);
    subject.clock.advance(1);
    await subject.consume(a.policy, 'key', 4);
    expectEqual('left once the old ones are returned', await a.tell(grant, 0, 5), 6);
    await b.hold(5);
  }),
  ...forEachLeased('an overcharge takes beside what is out', async (subject, algorithm) => {
    const holder = new Holder(subject, leased(algorithm));
    const grant = await holder.hold(5);
    expectEqual('left', (await subject.overcharge(holder.policy, 'key', 7)).remaining, 0);
    expectEqual('left once all came back', await holder.tell(grant, 0, 5), 3);
  }),
  ...forEachLeased('a refund leaves room for what is out', async (subject, algorithm) => {
    const holder = new Holder(subject, leased(algorithm));
    const grant = await holder.hold(5);
    await subject.consume(holder.policy, 'key', 4);
    expectEqual('left', (await subject.refund(holder.policy, 'key', 3)).remaining, 4);
    expectEqual('and at most', (await subject.refund(holder.policy, 'key', 9)).remaining, 5);
    expectEqual('left once all came back', await holder.tell(grant, 0, 5), 10);
  }),
  ...forEachLeased(
    'a refund of other permits comes back while some are out',
    async (subject, algorithm) => {
      const holder = new Holder(subject, leased(algorithm));
      const taken = await subject.consume(holder.policy, 'key', 4);
      const grant = await holder.hold(5);
      const refund = subject.refund(holder.policy, 'key', 3, taken.decidedAtMs);
      expectEqual('left', (await refund).remaining, 4);
      expectEqual('left once all came back', await holder.tell(grant, 0, 5), 9);
    },
  ),
];
