import type { Policy } from '../../policy/policy.js';
import type { Store } from '../../store/store.js';
import { type Behaviour, policyOf } from './contract-test.js';
import { expectEqual } from './expect.js';

/** What a store still answers once it is being closed. */
export const CLOSE_BEHAVIOURS: readonly Behaviour[] = [
  {
    name: 'close: calls made before it are answered',
    check: async (subject) => {
      const policy = policyOf({ limit: 3, window: '1h' });
      const log = policyOf({ limit: 3, window: '1h', algorithm: 'sliding-log' });
      const before = Promise.all([
        subject.store.consume(policy, 'key', 1),
        subject.consumeAll([
          { policy, key: 'key', cost: 1 },
          { policy: log, key: 'key', cost: 1 },
        ]),
        subject.overcharge(log, 'key', 1),
        subject.refund(policy, 'key', 1),
        subject.reset(log, 'key'),
        subject.store.consume(log, 'key', 2),
      ]);
      await Promise.all([subject.store.close(), before]);
      const [first, both, overcharged, refunded, , last] = await before;
      expectEqual(
        'remaining',
        [first, ...both, overcharged, refunded, last].map((it) => it.remaining),
        [2, 1, 2, 1, 2, 1],
      );
    },
  },
  {
    name: 'close: calls made after it are refused with RL_CLOSED, and a second close is fine',
    check: async ({ store }) => {
      const policy = policyOf({ limit: 3, window: '1h' });
      const closing = store.close();
      await expectRefused(store, policy);
      await closing;
      await store.close();
      await expectRefused(store, policy);
    },
  },
];

async function expectRefused(store: Store, policy: Policy): Promise<void> {
  const charges = [{ policy, key: 'key', cost: 1 }];
  const calls: Readonly<Record<string, () => unknown>> = {
    tryConsume: () => store.tryConsume(policy, 'key', 1),
    tryConsumeAll: () => store.tryConsumeAll(charges),
  };
  for (const [name, call] of Object.entries(calls)) {
    expectEqual(`what ${name} does`, outcomeOf(call), 'throws RL_CLOSED');
  }
  const promised: Readonly<Record<string, () => Promise<unknown>>> = {
    consume: () => store.consume(policy, 'key', 1),
    consumeAll: () => store.consumeAll(charges),
    refund: () => store.refund(policy, 'key', 1, undefined),
    overcharge: () => store.overcharge(policy, 'key', 1),
    reset: () => store.reset(policy, 'key'),
  };
  for (const [name, call] of Object.entries(promised)) {
    let promise: unknown;
    const thrown = outcomeOf(() => {
      promise = call();
    });
    const outcome = thrown === 'returns' ? await settled(promise) : thrown;
    expectEqual(`what ${name} does`, outcome, 'rejects with RL_CLOSED');
  }
}

function outcomeOf(call: () => unknown): string {
  try {
    call();
    return 'returns';
  } catch (error) {
    return `throws ${codeOf(error)}`;
  }
}

async function settled(promise: unknown): Promise<string> {
  try {
    await promise;
    return 'resolves';
  } catch (error) {
    return `rejects with ${codeOf(error)}`;
  }
}

/** The code of one of our errors, else its text. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : String(error);
}
