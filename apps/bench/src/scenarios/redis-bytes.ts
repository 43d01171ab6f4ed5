import { ALGORITHMS, type Algorithm, createLimiter } from '@rl/core';
import { randomPrefix } from '@rl/testkit';
import type { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { PATIENT } from '../patient.js';
import { formatNumber } from '../report.js';
import type { ScenarioResult, Stage } from '../scenario.js';
import { median } from '../statistics.js';
import { rateLimitRedisStore } from './rate-limit-redis-store.js';
import { recordedStore } from './recorded-store.js';

const LIMIT = 100;
const WINDOW_MS = 60_000;

/** Calls of each client: half of what the limit allows. */
const CALLS = 50;

/** Of 16 characters each. */
const CLIENTS: readonly string[] = Array.from(
  { length: 100 },
  (_, i) => `client-${String(i).padStart(9, '0')}`,
);

/** A limiter under a prefix of as many characters as every other's. */
interface Stored {
  readonly name: string;
  check(client: string): Promise<unknown>;
  /** The keys of what it has stored, one for each client. */
  keys(): readonly string[];
}

/** What one client costs the memory of the server, under every algorithm of ours and the peers. */
export async function measureBytes({ redis, signal }: Stage): Promise<ScenarioResult> {
  const client = await redis.connect();
  try {
    const measure = async (stored: Stored): Promise<number> => {
      signal.throwIfAborted();
      try {
        return await bytesOf(client, stored);
      } finally {
        await client.del([...stored.keys()]);
      }
    };
    const ours: Record<string, number> = {};
    for (const algorithm of ALGORITHMS)
      ours[algorithm] = await measure(makeOurs(client, algorithm));
    const peers: Record<string, number> = {};
    for (const make of [makeRateLimitRedis, makeRateLimiterFlexible]) {
      const stored = await make(client);
      peers[stored.name] = await measure(stored);
    }
    const rows = Object.entries({ ...ours, ...peers });
    const table = {
      title:
        `redis: memory of one bucket, ${LIMIT} a minute, ${CALLS} calls, ` +
        `keys of ${CLIENTS[0]?.length} characters`,
      header: ['algorithm or peer', 'bytes'],
      rows: rows.map(([name, bytes]) => [name, formatNumber(bytes)]),
      notes: ['By MEMORY USAGE: key and value, without the entry for the expiry.'],
    };
    return { figures: { keys: CLIENTS.length, ...ours, peers }, tables: [table] };
  } finally {
    client.disconnect();
  }
}

/** The clients call in turn, as they would: what grows with each call is not written at once. */
async function bytesOf(client: Redis, { name, check, keys }: Stored): Promise<number> {
  for (let i = 0; i < CALLS; i++) await Promise.all(CLIENTS.map(check));
  const sizes = await Promise.all(keys().map((key) => client.memory('USAGE', key, 'SAMPLES', 0)));
  const found = sizes.filter((bytes) => bytes !== null);
  if (found.length !== CLIENTS.length) {
    throw new Error(`${name} has stored ${found.length} buckets for ${CLIENTS.length} clients`);
  }
  return median(found);
}

function makeOurs(client: Redis, algorithm: Algorithm): Stored {
  // The store puts a colon behind its prefix.
  const { store, keys } = recordedStore(client, randomPrefix().slice(0, -1));
  const policy = { limit: LIMIT, window: WINDOW_MS, algorithm };
  const limiter = createLimiter({ policies: { api: policy }, store, fallback: PATIENT });
  return {
    name: algorithm,
    check: (key) => limiter.consume({ api: key }),
    keys: () => [...keys],
  };
}

async function makeRateLimitRedis(client: Redis): Promise<Stored> {
  const prefix = randomPrefix();
  const store = await rateLimitRedisStore(client, prefix, WINDOW_MS);
  return {
    name: 'rateLimitRedis',
    check: (key) => store.increment(key),
    keys: () => CLIENTS.map((key) => `${prefix}${key}`),
  };
}

async function makeRateLimiterFlexible(client: Redis): Promise<Stored> {
  const limiter = new RateLimiterRedis({
    storeClient: client,
    // As our store does, it puts a colon behind.
    keyPrefix: randomPrefix().slice(0, -1),
    points: LIMIT,
    duration: WINDOW_MS / 1000,
  });
  return {
    name: 'rateLimiterFlexible',
    check: (key) => limiter.consume(key),
    keys: () => CLIENTS.map((key) => limiter.getKey(key)),
  };
}
