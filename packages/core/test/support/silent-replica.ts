import { vi } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import { storeFailed } from '../../src/errors.js';
import type { StoreEvent } from '../../src/fallback/events.js';
import type { FallbackOptions } from '../../src/fallback/options.js';
import { PROBE } from '../../src/fallback/probe.js';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import type { Policy, PolicyOptions } from '../../src/policy/policy.js';
import { AnsweredStore, fits } from './answered-store.js';
import { SteppedTime } from './stepped-time.js';
import { everyTurn } from './virtual-time.js';

/** What the store is charged with, whose outcome a test tells. */
export interface Payment {
  readonly key: string;
  readonly permits: number;
  succeed(): Promise<void>;
  /** @param error default: the store refused it */
  fail(error?: Error): Promise<void>;
}

/** A store that is charged with what was admitted without it only as far as a test says so. */
export class OwedStore extends AnsweredStore {
  /** Those that were not looked at yet. */
  readonly payments: Payment[] = [];

  override overcharge(policy: Policy, key = '', permits = 0): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const then = async (tell: () => void) => {
        tell();
        await everyTurn();
      };
      this.payments.push({
        key,
        permits,
        succeed: () => then(() => resolve(fits(policy))),
        fail: (error = refused()) => then(() => reject(error)),
      });
    });
  }
}

export const refused = (): Error => storeFailed('decide', new Error('refused'), 'connection');

/** A replica on a store that answers as a test has it, all in one time. A deadline is 5 ms. */
export interface SilentReplica<S extends OwedStore = OwedStore> {
  readonly limiter: Limiter;
  readonly store: S;
  readonly time: SteppedTime;
  readonly events: StoreEvent[];
}

const open: SilentReplica[] = [];
let time: SteppedTime | undefined;

/** Those of one test have one time. `closeAll` is to be called behind it. */
export function openSilent(
  policies: Record<string, PolicyOptions>,
  options: FallbackOptions = {},
): SilentReplica {
  return openOn(new OwedStore(), policies, options);
}

/** As `openSilent`, on a store of a test's own. */
export function openOn<S extends OwedStore>(
  store: S,
  policies: Record<string, PolicyOptions>,
  options: FallbackOptions = {},
): SilentReplica<S> {
  // Probes come neither early nor late.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const shared = time ?? new SteppedTime();
  time = shared;
  const events: StoreEvent[] = [];
  const limiter = createLimiter({
    policies,
    store,
    clock: shared.clock,
    fallback: { replicas: 1, onEvent: (event) => events.push(event), ...options },
  });
  const replica = { limiter, store, time: shared, events };
  open.push(replica);
  return replica;
}

export async function closeAll(): Promise<void> {
  vi.restoreAllMocks();
  const closing = open.splice(0).map(({ limiter }) => limiter.close());
  await everyTurn();
  // The longest that both parts of it wait.
  await time?.stall(1000);
  await time?.stall(1000);
  await Promise.all(closing);
  time?.end();
  time = undefined;
}

/** The store refuses questions about a bucket of their own, each asked after the one before. */
export async function lose({ limiter, store }: SilentReplica, policy = 'p'): Promise<void> {
  while (limiter.health().store === 'up') {
    const call = limiter.consume({ [policy]: 'loser' }, { cost: 0 });
    await (await store.checked()).fail(refused());
    await call;
  }
}

/** The next probe, which is due after `ms`, is answered. */
export async function find({ store, time }: SilentReplica, ms = 100): Promise<void> {
  await time.pass(ms);
  const probe = await store.checked();
  if (probe.asked.policy !== PROBE) throw new Error(`a ${probe.asked.policy.name} is no probe`);
  await probe.answer(fits(PROBE));
}

/** The kinds of events that came since the last look, but for the number of replicas. */
export function kinds({ events }: SilentReplica): string[] {
  return events
    .splice(0)
    .map(({ type }) => type)
    .filter((type) => type !== 'replicas');
}

/** The permits of what the store is charged with, by bucket. */
export function paid({ store }: SilentReplica): [key: string, permits: number][] {
  return store.payments.map(({ key, permits }) => [key, permits]);
}
