import type { Decision } from '../../decision/decision.js';
import { type Behaviour, forEachAlgorithm, policyOf } from './contract-test.js';
import { facts } from './decisions.js';
import { during, expectEqual, expectTrue } from './expect.js';
import type { Subject } from './subject.js';

/** Times and costs that are allowed and denied in every order; the last cost can never fit. */
const HISTORY = Array.from({ length: 60 }, (_, i) => ({
  afterMs: (i * 370) % 1900,
  cost: i % 20 === 19 ? 9 : 1 + ((i * i) % 5),
}));

/** A check that is denied, or would have been, leaves the bucket as if it had not been made. */
export const DENIED_BEHAVIOURS: readonly Behaviour[] = [
  ...forEachAlgorithm('a denied check changes nothing', async (subject, algorithm) => {
    const policy = policyOf({ limit: 8, window: '10s', algorithm });
    const denials = await compare(subject, async (key, cost) => {
      const decision = await subject.consume(policy, key, cost);
      return { decision, charged: decision.allowed };
    });
    expectTrue('checks must be denied in this history', denials > 0, denials);
  }),
  ...forEachAlgorithm(
    'a check that a shadow policy would deny changes nothing',
    (subject, algorithm) => {
      const policy = policyOf({ limit: 8, window: '10s', algorithm, shadow: true });
      return compare(subject, async (key, cost) => {
        const decision = await subject.consume(policy, key, cost);
        return { decision, charged: !decision.wouldDeny };
      }).then((denials) => expectTrue('checks must tell wouldDeny', denials > 0, denials));
    },
  ),
  ...forEachAlgorithm('a cost of 0 is allowed and changes nothing', async (subject, algorithm) => {
    const policy = policyOf({ limit: 2, window: '10s', algorithm });
    for (const left of [2, 1, 0]) {
      const looks: Decision[] = [];
      for (let i = 0; i < 3; i++) looks.push(await subject.consume(policy, 'key', 0));
      for (const look of looks) {
        expectEqual('allowed', look.allowed, true);
        expectEqual('remaining', look.remaining, left);
        expectEqual('a look after a look', facts(look), facts(looks[0] as Decision));
      }
      await subject.consume(policy, 'key');
    }
  }),
];

/**
 * Makes all checks of the history on one bucket, and only those that were charged on another: the
 * two answer alike at every step.
 * @returns how many were not charged
 */
async function compare(
  subject: Subject,
  check: (key: string, cost: number) => Promise<{ decision: Decision; charged: boolean }>,
): Promise<number> {
  let denials = 0;
  for (const [index, { afterMs, cost }] of HISTORY.entries()) {
    subject.clock.advance(afterMs);
    await during(`check ${index + 1}, of cost ${cost}`, async () => {
      const all = await check('all', cost);
      if (!all.charged) denials++;
      else {
        const charged = await check('charged', cost);
        expectEqual('decision', facts(all.decision), facts(charged.decision));
      }
      const [look, expected] = [await check('all', 0), await check('charged', 0)];
      expectEqual('the bucket then', facts(look.decision), facts(expected.decision));
    });
  }
  return denials;
}
