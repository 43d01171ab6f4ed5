import { setTimeout as delay } from 'node:timers/promises';
import { createLimiter, type Limiter, type PolicyOptions } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import type { Redis } from 'ioredis';
import type { Cell } from './cell.js';
import { openField } from './field.js';

/** What a load is decided by: a window in which nothing comes back, and none is denied for want of permits. */
const WINDOW_MS = 3_600_000;
const LIMIT = 100_000_000;

/** A window must not end in a trial. */
const LONGEST_TRIAL_MS = 30_000;

const CALLS_PER_MS = 10;
const LOAD_MS = 300;
const RANDOM_MS = 100;

/** What became of one primary that was killed under load. */
export interface Trial {
  /** Permits that calls were told they may spend. */
  readonly told: number;
  /** Permits that the new primary takes to be spent, or leased. */
  readonly counted: number;
  /** Decisions told though the Redis replica may not have had them; of a store that asks for it. */
  readonly unreplicated: number;
}

/**
 * @param timeoutMs of `durability`
 * @param random from 0 to 1: when the primary is killed
 */
export async function runTrial(cell: Cell, timeoutMs: number, random: number): Promise<Trial> {
  const leftMs = WINDOW_MS - (Date.now() % WINDOW_MS);
  if (leftMs < LONGEST_TRIAL_MS) await delay(leftMs + 1000);
  const field = await openField(cell);
  try {
    const client = field.connect();
    const limiter = limiterOn(client, cell, timeoutMs);
    const { allowed } = await limiter.consume({ api: 'k' });
    if (!allowed) throw new Error('denied before the primary was killed');
    const load = startLoad(limiter);
    await delay(LOAD_MS + random * RANDOM_MS);
    const promoted = field.failOver();
    const told = 1 + (await load);
    const { unreplicated = 0 } = limiter.health();
    const { limit, remaining, origin } = await limiterOn(await promoted, cell, timeoutMs).peek({
      api: 'k',
    });
    if (origin !== 'store') throw new Error(`looked at by ${origin}, not the new primary`);
    return { told, counted: limit - remaining, unreplicated };
  } finally {
    await field.close();
  }
}

/** Nothing is decided without the store, or its leases, and nothing is late. */
function limiterOn(client: Redis, { leased, durable }: Cell, timeoutMs: number): Limiter<'api'> {
  const policy: PolicyOptions = { algorithm: 'fixed-window', limit: LIMIT, window: WINDOW_MS };
  const durability = durable ? { replicas: 1, timeoutMs } : undefined;
  return createLimiter({
    store: redisStore(client, { durability }),
    policies: { api: leased ? { ...policy, lease: true } : policy },
    fallback: { mode: 'closed', deadline: '10s', replicas: 1 },
  });
}

/** Resolves when a call was denied and all before it are answered: to what was told. */
async function startLoad(limiter: Limiter<'api'>): Promise<number> {
  let told = 0;
  let isOver = false;
  const asked: Promise<void>[] = [];
  const call = async () => {
    const { allowed } = await limiter.consume({ api: 'k' });
    if (allowed) told++;
    else isOver = true;
  };
  const startMs = performance.now();
  while (!isOver) {
    const due = (performance.now() - startMs) * CALLS_PER_MS;
    while (asked.length < due) asked.push(call());
    await delay(1);
  }
  await Promise.all(asked);
  return told;
}
