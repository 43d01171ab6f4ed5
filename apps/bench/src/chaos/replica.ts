import { createLimiter, type Limiter, type StoreEvent } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import type { RedisConnection } from '@rl/testkit';
import { Redis } from 'ioredis';
import type { ToldEvent } from './account.js';
import { nowMs } from './clock.js';
import { POLICIES, type PolicyName } from './traffic.js';

/** What an app has of us. */
export interface Replica {
  readonly limiter: Limiter<PolicyName>;
  /** What its limiter told so far. */
  readonly events: ToldEvent[];
  close(): Promise<void>;
}

/** A limiter as the README has it: all its options but the store are the defaults. */
export function openReplica(connection: RedisConnection, replicaId: string): Replica {
  const client = new Redis({
    ...connection,
    retryStrategy: (tries) => Math.min(tries * 50, 500),
  });
  client.on('error', () => {}); // the limiter tells of what matters
  const store = redisStore(client, { replicaId });
  const events: ToldEvent[] = [];
  const limiter = createLimiter({
    policies: POLICIES,
    store,
    fallback: {
      onEvent: (event) => void events.push({ atMs: nowMs(), ...summary(event) }),
    },
  });
  return {
    limiter,
    events,
    async close() {
      await limiter.close();
      await store.close();
      client.disconnect();
    },
  };
}

function summary({ type, ...facts }: StoreEvent): Omit<ToldEvent, 'atMs'> {
  const detail = Object.entries(facts).map(([name, fact]) => `${name}: ${String(fact)}`);
  return { type, detail: detail.join(', ') };
}
