import type { Behaviour } from './contract-test.js';
import { facts } from './decisions.js';
import { during, expectEqual } from './expect.js';
import { fast, forEachLeased, Holder, leased, report, twoHolders } from './holder.js';
import type { Subject } from './subject.js';

/** The same claim, as a client sends it once more after a lost connection, counts once. */
export const LEASE_TWICE_BEHAVIOURS: readonly Behaviour[] = [
  ...forEachLeased(
    'the same once more is answered undefined and changes nothing',
    async (subject, algorithm) => {
      const holder = new Holder(subject, leased(algorithm));
      const grant = await holder.hold(5);
      const told = { reports: [report(grant, 1, 1)], costs: [2], extra: 1 };
      const { left } = await holder.claim(told);
      expectEqual('remaining', left.remaining, 3);
      for (const again of ['once more', 'and again']) {
        await during(again, () => expectVoid(subject, holder));
      }
      expectEqual('the latest holds', await holder.tell(grant, 0, 4), 7);
    },
  ),
  ...forEachLeased('an earlier one after a later one is void', async (subject, algorithm) => {
    const holder = new Holder(subject, leased(algorithm));
    const grant = await holder.hold(5);
    await holder.tell(grant, 0, 1);
    const earlier = holder.latest;
    await holder.tell(grant, 0, 1);
    const look = facts(await subject.look(holder.policy, 'key'));
    expectEqual('answer', await subject.claim(earlier), undefined);
    const asksOnly = { ...earlier, reports: [], costs: [1], extra: 3 };
    expectEqual('answer to costs', await subject.claim(asksOnly), undefined);
    expectEqual('the bucket then', facts(await subject.look(holder.policy, 'key')), look);
  }),
  ...forEachLeased('also where all was returned', async (subject, algorithm) => {
    const holder = new Holder(subject, leased(algorithm));
    const grant = await holder.hold(5);
    await holder.tell(grant, 0, 5);
    await expectVoid(subject, holder);
    const asksOnly = { ...holder.latest, reports: [], costs: [1], extra: 3 };
    expectEqual('answer to costs', await subject.claim(asksOnly), undefined);
    expectEqual('remaining', (await subject.look(holder.policy, 'key')).remaining, 10);
  }),
  ...forEachLeased('sent twice at once it is answered once', async (subject, algorithm) => {
    const holder = new Holder(subject, leased(algorithm));
    const grant = await holder.hold(5);
    const first = holder.tell(grant, 0, 2);
    const [left, again] = await Promise.all([first, subject.claim(holder.latest)]);
    expectEqual('answers', [left, again], [7, undefined]);
  }),
  ...forEachLeased('each holder has its own count of claims', async (subject, algorithm) => {
    const [a, b] = twoHolders(subject, leased(algorithm));
    const [of3, of2] = [await a.hold(3), await b.hold(2)];
    expectEqual('left', await a.tell(of3, 0, 1), 6);
    expectEqual('left after the other, of the same number', await b.tell(of2, 0, 1), 7);
    expectEqual('left after the next', await a.tell(of3, 0, 1), 8);
    expectEqual('left after the other of that number', await b.tell(of2, 1, 0), 8);
    expectEqual('one of the first', await subject.claim(a.latest), undefined);
    expectEqual('one of the second', await subject.claim(b.latest), undefined);
  }),
  ...forEachLeased('is still known in the epoch after', async (subject, algorithm) => {
    const [a, b] = twoHolders(subject, leased(algorithm, { window: '1h' }));
    const grant = await a.hold(3);
    await b.hold(2);
    await a.tell(grant, 0, 1);
    for (const afterMs of [999, 1, 999]) {
      subject.clock.advance(afterMs);
      await during(`${afterMs} ms later`, () => expectVoid(subject, a));
    }
  }),
  {
    name: 'token-bucket: claim: told of an epoch that is over it can do no harm',
    check: async (subject) => {
      const [a, b] = twoHolders(subject, fast());
      const grant = await a.hold(3);
      await a.tell(grant, 1, 1);
      const again = a.latest;
      for (const afterMs of [1000, 1000, 1000]) {
        subject.clock.advance(afterMs);
        await b.hold(1);
        const before = (await subject.look(a.policy, 'key')).remaining;
        await subject.claim(again);
        expectEqual('remaining', (await subject.look(a.policy, 'key')).remaining, before);
      }
    },
  },
];

/** The latest claim of a holder, sent once more, has no answer and changes nothing. */
async function expectVoid(subject: Subject, holder: Holder): Promise<void> {
  const { policy, key } = holder.latest;
  const before = facts(await subject.look(policy, key));
  expectEqual('answer', await subject.claim(holder.latest), undefined);
  expectEqual('the bucket then', facts(await subject.look(policy, key)), before);
}
