import { type FaultProxy, type RedisHandle, startFaultProxy } from '@rl/testkit';
import { type RedisOptions as AllOptions, Redis } from 'ioredis';
import type { Decision } from '../../src/decision/decision.js';
import type { StoreEvent } from '../../src/fallback/events.js';
import type { FallbackOptions } from '../../src/fallback/options.js';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import type { PolicyOptions } from '../../src/policy/policy.js';
import { type RedisStore, redisStore } from '../../src/store/redis/redis-store.js';

/** Without one that changes the types of a client. */
type RedisOptions = Omit<AllOptions, 'replyMapping'>;

/** How ioredis is best set up for a limiter: see docs/stores.md. */
export const CLIENT: RedisOptions = {
  retryStrategy: (attempt) => Math.min(attempt * 50, 500),
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
};

/** As much as a machine that is busy with other tests may take, where an answer is sure to come. */
export const LONG = '10s';

/** One replica as an app has it: a client, a store, a limiter, and a cable that can be cut. */
export interface Replica {
  readonly limiter: Limiter;
  readonly store: RedisStore;
  readonly client: Redis;
  readonly cable: FaultProxy;
  readonly events: StoreEvent[];
  close(): Promise<void>;
}

export interface ReplicaOptions {
  readonly policies: Record<string, PolicyOptions>;
  readonly fallback?: FallbackOptions;
  readonly client?: RedisOptions;
  readonly prefix?: string;
  readonly replicaId?: string;
}

/** A replica with a cable of its own to `server`. */
export async function startReplica(
  server: RedisHandle,
  { policies, fallback, client: options, prefix = 'rl', replicaId = 'r' }: ReplicaOptions,
): Promise<Replica> {
  const cable = await startFaultProxy(server);
  const address = cable.connection as RedisOptions;
  const client = new Redis({ ...address, ...CLIENT, ...options });
  // Without a listener ioredis prints each lost connection.
  client.on('error', () => {});
  const store = redisStore(client, { prefix, replicaId });
  const events: StoreEvent[] = [];
  const limiter = createLimiter({
    policies,
    store,
    fallback: { replicas: 1, ...fallback, onEvent: (event) => events.push(event) },
  });
  const close = async () => {
    client.disconnect();
    await limiter.close();
    await store.close();
    await cable.close();
  };
  return { limiter, store, client, cable, events, close };
}

/** How often each kind of event was told. */
export function kindsOf(events: readonly StoreEvent[]): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const { type } of events) kinds[type] = (kinds[type] ?? 0) + 1;
  return kinds;
}

/** Asks for a permit of `p` until `holds` is true of the decision. @returns how many were allowed */
export async function askUntil(
  limiter: Limiter,
  key: string,
  holds: (decision: Decision) => boolean,
): Promise<number> {
  let allowed = 0;
  for (let i = 0; i < 400; i++) {
    const decision = await limiter.consume({ p: key });
    if (decision.allowed) allowed++;
    if (holds(decision)) return allowed;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('400 decisions in 4 s, and none was such');
}

/** Asks, charging nothing, until the store says so itself. */
export async function untilStore(limiter: Limiter, key: string): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if ((await limiter.peek({ p: key })).origin === 'store') return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('400 looks in 4 s, and none was at the store');
}

/** As many calls of `p` one after the other; those that were allowed. */
export async function take(limiter: Limiter, count: number, key = 'k'): Promise<number> {
  let allowed = 0;
  for (let i = 0; i < count; i++) if ((await limiter.consume({ p: key })).allowed) allowed++;
  return allowed;
}
