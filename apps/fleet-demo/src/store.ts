import { randomBytes } from 'node:crypto';
import { createLimiter } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { type FoundRedis, findRedis, type RedisServer, startRedis } from '@rl/testkit';
import { API_KEY, POLICY, WINDOW_MS } from './quota.js';
import { connectRedis } from './redis.js';
import { fallbackOf } from './service.js';

/** What a user asks for: `auto` is Redis where there is one, else memory. */
export const STORES = ['auto', 'redis', 'memory'] as const;
export type StoreChoice = (typeof STORES)[number];

/** One Redis for all replicas, each a process of its own. */
export interface RedisQuota {
  readonly kind: 'redis';
  readonly url: string;
  /** How all keys of this run begin: nobody else uses it. */
  readonly prefix: string;
  /** Which Redis this is. */
  readonly about: string;
  /** Removes what the run left: its key, or the whole server where the run started it. */
  close(): Promise<void>;
}

/** The memory of this process, with the replicas as servers in it. */
export interface MemoryQuota {
  readonly kind: 'memory';
  /** Why there is no Redis, and how to get one. */
  readonly about: string;
  close(): Promise<void>;
}

/** Where the shared quota of a run is kept. */
export type QuotaStore = RedisQuota | MemoryQuota;

/** What is asked of the machine; tests answer for it. */
export interface Machine {
  readonly redisUrl: string | undefined;
  readonly find: () => Promise<FoundRedis>;
  readonly start: () => Promise<Pick<RedisServer, 'url' | 'close'>>;
}

const THIS_MACHINE: Machine = {
  redisUrl: process.env.REDIS_URL,
  find: () => findRedis(),
  start: () => startRedis(),
};

/**
 * Finds, or starts, what the choice asks for. `auto` settles for memory where no Redis is found or
 * the one found does not start. A `REDIS_URL` is a wish: where it does not answer, that is an error.
 *
 * @throws Error that says why there is no Redis, where one was asked for
 */
export async function openStore(
  choice: StoreChoice,
  machine: Machine = THIS_MACHINE,
): Promise<QuotaStore> {
  if (choice === 'memory') return memory('Memory was asked for, by --store memory.');
  if (machine.redisUrl) return useRedis(machine.redisUrl);
  try {
    return await startOwn(machine);
  } catch (error) {
    if (choice === 'redis') throw error;
    return memory(messageOf(error));
  }
}

function memory(about: string): MemoryQuota {
  return { kind: 'memory', about, close: async () => {} };
}

/** A server somebody else runs: of it, the key of this run is all that is ours. */
async function useRedis(url: string): Promise<RedisQuota> {
  const prefix = randomPrefix();
  const client = await connectRedis(url).catch((error: unknown) => {
    const advice = 'Unset it, or use --store memory.';
    throw new Error(`REDIS_URL does not answer: ${messageOf(error)}. ${advice}`, { cause: error });
  });
  const close = async () => {
    const policies = { [POLICY]: { limit: 1, window: WINDOW_MS } };
    const limiter = createLimiter({
      policies,
      store: redisStore(client, { prefix }),
      fallback: fallbackOf(1),
    });
    await limiter.reset({ [POLICY]: API_KEY }).catch((error: unknown) => {
      const fate = 'it expires by itself within the hour';
      console.error(`The key under ${prefix} was not removed (${fate}): ${messageOf(error)}`);
    });
    client.disconnect();
  };
  return { kind: 'redis', url, prefix, about: 'the one at REDIS_URL', close };
}

/** A server of our own, which dies with this process if it cannot be stopped before. */
async function startOwn({ find, start }: Machine): Promise<RedisQuota> {
  const found = await find();
  const server = await start();
  return {
    kind: 'redis',
    url: server.url,
    prefix: randomPrefix(),
    about: `started for this run from ${found.kind === 'binary' ? found.path : 'a container'}`,
    close: () => server.close(),
  };
}

function randomPrefix(): string {
  return `fleet-demo:${randomBytes(6).toString('hex')}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
