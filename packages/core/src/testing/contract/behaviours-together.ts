import { ALGORITHMS, type PolicyOptions } from '../../policy/policy.js';
import type { Charge } from '../../store/store.js';
import { type Behaviour, policyOf } from './contract-test.js';
import { facts } from './decisions.js';
import { during, expectEqual } from './expect.js';
import type { Subject } from './subject.js';

const FIVE = { limit: 5, window: '1h' };

/** One bucket of five permits for each algorithm. */
function fiveEach(cost: number): Charge[] {
  return ALGORITHMS.map((algorithm) => charge(`of-${algorithm}`, cost, { ...FIVE, algorithm }));
}

function charge(name: string, cost: number, options: PolicyOptions = FIVE, key = 'key'): Charge {
  return { policy: policyOf(options, name), key, cost };
}

async function expectLeft(
  subject: Subject,
  charges: readonly Charge[],
  left: readonly number[],
): Promise<void> {
  const found: number[] = [];
  for (const { policy, key } of charges) found.push((await subject.look(policy, key)).remaining);
  expectEqual('remaining in each bucket', found, left);
}

async function expectAllowed(
  subject: Subject,
  charges: readonly Charge[],
  allowed: readonly boolean[],
): Promise<void> {
  const decisions = await subject.consumeAll(charges);
  expectEqual(
    'allowed, charge by charge',
    decisions.map((it) => it.allowed),
    allowed,
  );
}

/** Several charges of one call. */
export const TOGETHER_BEHAVIOURS: readonly Behaviour[] = [
  {
    name: 'consumeAll: where all fit, all are charged, and answered in the order of the charges',
    check: async (subject) => {
      const charges = fiveEach(1).map((one, i) => ({ ...one, cost: i }));
      const decisions = await subject.consumeAll(charges);
      expectEqual(
        'policies',
        decisions.map((it) => it.policy),
        charges.map((it) => it.policy.name),
      );
      expectEqual(
        'remaining',
        decisions.map((it) => it.remaining),
        [5, 4, 3, 2, 1],
      );
      await expectLeft(subject, charges, [5, 4, 3, 2, 1]);
    },
  },
  ...ALGORITHMS.map((algorithm, denied) => ({
    name: `${algorithm}: consumeAll: where it does not fit, nothing is charged, and each is answered by itself`,
    check: async (subject: Subject) => {
      const charges = fiveEach(2).map((one, i) => (i === denied ? { ...one, cost: 4 } : one));
      const allowed = charges.map((_, i) => i !== denied);
      await expectAllowed(
        subject,
        charges,
        charges.map(() => true),
      );
      const before = [];
      for (const { policy, key } of charges) before.push(facts(await subject.look(policy, key)));
      for (const attempt of [1, 2]) {
        await during(`attempt ${attempt}`, () => expectAllowed(subject, charges, allowed));
      }
      for (const [i, { policy, key }] of charges.entries()) {
        expectEqual(`bucket ${policy.name}`, facts(await subject.look(policy, key)), before[i]);
      }
    },
  })),
  {
    name: 'consumeAll: several that do not fit are all denied, each with its own wait',
    check: async (subject) => {
      const algorithm = 'fixed-window';
      const charges = [
        charge('minute', 2, { limit: 2, window: '1m', algorithm }),
        charge('hour', 3, { limit: 3, window: '1h', algorithm }),
        charge('day', 1, { limit: 9, window: '1d', algorithm }),
      ];
      await expectAllowed(subject, charges, [true, true, true]);
      const decisions = await subject.consumeAll(charges);
      expectEqual(
        'waits',
        decisions.map((it) => it.retryAfterMs),
        [60_000, 3_600_000, undefined],
      );
    },
  },
  {
    name: 'consumeAll: one policy under several keys, each a bucket of its own',
    check: async (subject) => {
      const charges = ['ann', 'bob'].map((key) => charge('user', 3, FIVE, key));
      await expectAllowed(subject, charges, [true, true]);
      await subject.refund(policyOf(FIVE, 'user'), 'bob', 3);
      await expectAllowed(subject, charges, [false, true]);
      await expectLeft(subject, charges, [2, 5]);
    },
  },
  {
    name: 'consumeAll: a shadow policy denies nothing, and is charged only where it fits',
    check: async (subject) => {
      const charges = [
        charge('real', 2),
        charge('watched', 2, { limit: 3, window: '1h', shadow: true }),
      ];
      const decide = async (wouldDeny: boolean, left: number[]) => {
        const decisions = await subject.consumeAll(charges);
        expectEqual(
          'allowed',
          decisions.map((it) => it.allowed),
          [true, true],
        );
        expectEqual(
          'wouldDeny',
          decisions.map((it) => it.wouldDeny),
          [false, wouldDeny],
        );
        await expectLeft(subject, charges, left);
      };
      await during('the first call', () => decide(false, [3, 1]));
      await during('the second call', () => decide(true, [1, 1]));
    },
  },
  {
    name: 'consumeAll: a shadow policy is not charged for a call that another denies',
    check: async (subject) => {
      const charges = [charge('real', 6), charge('watched', 2, { ...FIVE, shadow: true })];
      await expectAllowed(subject, charges, [false, true]);
      await expectLeft(subject, charges, [5, 5]);
    },
  },
  {
    name: 'consumeAll: of calls at once as many are allowed as all their buckets hold',
    check: async (subject) => {
      const charges = [...fiveEach(1), charge('narrow', 1, { limit: 3, window: '1h' })];
      const calls = await Promise.all(Array.from({ length: 8 }, () => subject.consumeAll(charges)));
      const allowed = calls.map((decisions) => decisions.every((it) => it.allowed));
      expectEqual(
        'calls allowed',
        allowed,
        allowed.map((_, i) => i < 3),
      );
      await expectLeft(subject, charges, [2, 2, 2, 2, 2, 0]);
    },
  },
  {
    name: 'consumeAll: calls and single checks at once are decided in the order they were made',
    check: async (subject) => {
      const [a, b] = [charge('a', 1), charge('b', 1, { limit: 3, window: '1h' })];
      const single = ({ policy, key }: Charge, cost: number) => subject.consume(policy, key, cost);
      const answers = await Promise.all([
        single(a, 1),
        subject.consumeAll([a, b]),
        subject.consumeAll([a, { ...b, cost: 3 }]),
        subject.consumeAll([{ ...b, cost: 2 }, a]),
        single(b, 1),
        single(a, 2),
        subject.consumeAll([a, { ...b, cost: 0 }]),
      ]);
      const allowed = answers.map((one) => [one].flat().map((it) => it.allowed));
      expectEqual('allowed', allowed, [
        [true],
        [true, true],
        [true, false],
        [true, true],
        [false],
        [true],
        [false, true],
      ]);
    },
  },
];
