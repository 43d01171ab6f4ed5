import type { Decision } from '../../decision/decision.js';
import type { Policy } from '../../policy/policy.js';
import type { Case, Step } from './case.js';
import { FIXED_WINDOW_CASES } from './cases-fixed-window.js';
import { GCRA_CASES } from './cases-gcra.js';
import { POLICY_CHANGE_CASES } from './cases-policy-change.js';
import { SLIDING_LOG_CASES } from './cases-sliding-log.js';
import { SLIDING_WINDOW_CASES } from './cases-sliding-window.js';
import { TOKEN_BUCKET_CASES } from './cases-token-bucket.js';
import { type Behaviour, policyOf, START_MS } from './contract-test.js';
import { during, expectEqual, text } from './expect.js';
import type { Subject } from './subject.js';

const FIELDS = ['remaining', 'retryAfterMs', 'refillAfterMs', 'resetAfterMs'] as const;

const TABLES: readonly (readonly Case[])[] = [
  TOKEN_BUCKET_CASES,
  GCRA_CASES,
  FIXED_WINDOW_CASES,
  SLIDING_WINDOW_CASES,
  SLIDING_LOG_CASES,
  POLICY_CHANGE_CASES,
];

/** Every row of the tables of cases. */
export const TABLE_BEHAVIOURS: readonly Behaviour[] = TABLES.flat().map((row) => ({
  name: `${row.policy.algorithm ?? 'token-bucket'}: ${row.name}`,
  check: (subject) => replay(subject, row),
}));

async function replay(subject: Subject, { policy: options, steps }: Case): Promise<void> {
  let policy = policyOf(options);
  for (const [index, step] of steps.entries()) {
    if (step.policy !== undefined) policy = policyOf(step.policy);
    await during(`step ${index + 1}, ${text(step)}`, async () => {
      subject.clock.set(START_MS + step.atMs);
      let decision: Decision | undefined;
      for (let i = step.times ?? 1; i > 0; i--) {
        decision = await perform(subject, policy, 'key', step);
        if (decision === undefined || step.allowed === undefined) continue;
        expectEqual('allowed', decision.allowed, step.allowed);
      }
      for (const field of FIELDS) {
        if (field in step) expectEqual(field, decision?.[field], step[field]);
      }
    });
  }
}

/** Makes a step's call; a reset has no decision. */
export async function perform(
  subject: Subject,
  policy: Policy,
  key: string,
  { do: what = 'consume', cost = 1, takenAtMs }: Omit<Step, 'atMs'>,
): Promise<Decision | undefined> {
  switch (what) {
    case 'consume':
      return subject.consume(policy, key, cost);
    case 'peek':
      return subject.look(policy, key);
    case 'refund':
      return subject.refund(
        policy,
        key,
        cost,
        takenAtMs === undefined ? undefined : START_MS + takenAtMs,
      );
    case 'overcharge':
      return subject.overcharge(policy, key, cost);
    case 'reset':
      await subject.reset(policy, key);
      return undefined;
  }
}
