import { createLimiter } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { type Contender, figuresOf, playRounds, type Round } from '../rounds.js';
import { median, quantile, significant } from '../statistics.js';
import { openField } from './field.js';

const IN_FLIGHT = 64;
const MEASURE_MS = 1000;
const ROUNDS = 6;

/** Of decisions by the store, medians over the rounds. */
export interface Speed {
  readonly durable: boolean;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** From 0 to 1: of the decisions, how many were told unconfirmed, and so did not wait. */
  readonly unreplicatedShare: number;
}

export interface Price {
  readonly linkMs: number;
  readonly inFlight: number;
  readonly rounds: number;
  readonly speeds: readonly Speed[];
}

interface Measurement {
  readonly perSecond: number;
  readonly tookMs: readonly number[];
  readonly unreplicated: number;
}

/** The same load with and without durability, in turn. */
export async function measurePrice(
  linkMs: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Price> {
  const field = await openField({ promotion: 'command', linkMs, death: 'process' });
  const contender = (durable: boolean): Contender<Measurement> => {
    const durability = durable ? { replicas: 1, timeoutMs } : undefined;
    const store = redisStore(field.connect(), { durability, prefix: `${durable}` });
    const limiter = createLimiter({
      store,
      policies: { api: { limit: 100_000_000, window: '1h' } },
      fallback: { deadline: '10s', replicas: 1 },
    });
    let key = 0;
    return {
      name: String(durable),
      measure: async () => {
        const before = store.unreplicated ?? 0;
        const measured = await measure(async () => {
          const { origin } = await limiter.consume({ api: `k${key++ % 1000}` });
          if (origin !== 'store') throw new Error(`decided by ${origin}`);
        });
        return { ...measured, unreplicated: (store.unreplicated ?? 0) - before };
      },
    };
  };
  try {
    const contenders = [contender(false), contender(true)];
    const rounds = await playRounds(contenders, { rounds: ROUNDS, warmUpMs: MEASURE_MS, signal });
    const speeds = [false, true].map((durable) => speedOf(rounds, durable));
    return { linkMs, inFlight: IN_FLIGHT, rounds: ROUNDS, speeds };
  } finally {
    await field.close();
  }
}

async function measure(call: () => Promise<void>): Promise<Omit<Measurement, 'unreplicated'>> {
  const tookMs: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + MEASURE_MS;
  const lane = async () => {
    for (let beginMs = performance.now(); beginMs < endMs; beginMs = performance.now()) {
      await call();
      tookMs.push(performance.now() - beginMs);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  return { perSecond: (tookMs.length * 1000) / (performance.now() - startMs), tookMs };
}

function speedOf(rounds: readonly Round<Measurement>[], durable: boolean): Speed {
  const figure = (of: (measurement: Measurement) => number) =>
    significant(median(figuresOf(rounds, String(durable), of)));
  return {
    durable,
    perSecond: figure(({ perSecond }) => perSecond),
    p50Ms: figure(({ tookMs }) => quantile(tookMs, 0.5)),
    p99Ms: figure(({ tookMs }) => quantile(tookMs, 0.99)),
    unreplicatedShare: figure(({ tookMs, unreplicated }) => unreplicated / tookMs.length),
  };
}
