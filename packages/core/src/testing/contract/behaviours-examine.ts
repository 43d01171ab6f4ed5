import type { Decision } from '../../decision/decision.js';
import { type Behaviour, forEachAlgorithm, policyOf } from './contract-test.js';
import { facts } from './decisions.js';
import { during, expectEqual, expectTrue } from './expect.js';
import { forEachLeased, Holder, leased } from './holder.js';

/** Times and costs that are allowed and denied in every order; the last cost can never fit. */
const HISTORY = Array.from({ length: 24 }, (_, i) => ({
  afterMs: (i * 370) % 1900,
  cost: i % 8 === 7 ? 9 : (i * i) % 6,
}));

/** How a store that tells ahead of a call what would become of it does so: others leave it out. */
export const EXAMINE_BEHAVIOURS: readonly Behaviour[] = [
  ...forEachAlgorithm(
    'examine: tells what a check would meet, and changes nothing',
    async (subject, algorithm) => {
      if (!subject.examines) return;
      for (const shadow of [false, true]) {
        const policy = policyOf({ limit: 8, window: '10s', algorithm, shadow });
        const [seen, unseen] = [`seen ${shadow}`, `unseen ${shadow}`];
        let misfits = 0;
        for (const [index, { afterMs, cost }] of HISTORY.entries()) {
          subject.clock.advance(afterMs);
          await during(`check ${index + 1}, of cost ${cost}`, async () => {
            const { decision: told } = await subject.examine(policy, seen, cost);
            const look = await subject.look(policy, seen);
            const decision = await subject.consume(policy, seen, cost);
            const isCharged = decision.allowed && !decision.wouldDeny;
            if (!isCharged) misfits++;
            const expected = isCharged ? look : decision;
            expectEqual('what it tells', facts(told), facts(expected));
            const other = await subject.consume(policy, unseen, cost);
            expectEqual('the check behind it', facts(decision), facts(other));
          });
        }
        expectTrue('checks must not fit in this history', misfits > 0, misfits);
      }
    },
  ),
  ...forEachAlgorithm(
    'examine: sees an overdraft, and a bucket that nobody has asked for',
    async (subject, algorithm) => {
      if (!subject.examines) return;
      const policy = policyOf({ limit: 5, window: '10s', algorithm });
      const fresh = await subject.examine(policy, 'fresh', 5);
      expectEqual(
        'of a full bucket',
        [fresh.decision.allowed, fresh.decision.remaining],
        [true, 5],
      );
      await subject.overcharge(policy, 'key', 8);
      const { decision } = await subject.examine(policy, 'key', 1);
      const { retryAfterMs }: Decision = await subject.consume(policy, 'key', 1);
      expectEqual(
        'of one below zero',
        [decision.allowed, decision.retryAfterMs],
        [false, retryAfterMs],
      );
    },
  ),
  ...forEachLeased('examine tells how many permits are out', async (subject, algorithm) => {
    if (!subject.examines) return;
    const policy = leased(algorithm);
    const out = async () => (await subject.examine(policy, 'key', 1)).out;
    if ((await out()) === undefined) return;
    const holder = new Holder(subject, policy);
    expectEqual('before a claim', await out(), 0);
    const grant = await holder.hold(3);
    expectEqual('after a claim of 3', await out(), 3);
    expectEqual('cost of 8', (await subject.examine(policy, 'key', 8)).decision.allowed, false);
    await holder.tell(grant, 1, 0);
    expectEqual('after 1 was spent', await out(), 2);
    await new Holder(subject, policy, 2).hold(2);
    expectEqual('after another claimed 2', await out(), 4);
    await holder.tell(grant, 0, 2);
    expectEqual('after 2 came back', await out(), 2);
  }),
];
