import type { Redis } from 'ioredis';
import { type Load, runClosedLoop } from '../closed-loop.js';
import type { RedisUnderTest } from '../redis-under-test.js';
import { playRounds, type Round } from '../rounds.js';
import {
  type Figures,
  KEYS,
  LIMIT,
  OURS,
  type Scenario,
  type ScenarioResult,
  type Stage,
  type Table,
  WINDOW_MS,
} from '../scenario.js';
import { MAKERS, type RedisLimiter } from './exact-contenders.js';
import { type Level, levelFigures, levelTable, type Measurement } from './exact-report.js';

const LEVELS: readonly Level[] = [
  { name: 'c64', inFlight: 64, autoPipelining: false },
  { name: 'c256', inFlight: 256, autoPipelining: false },
  { name: 'c256AutoPipelining', inFlight: 256, autoPipelining: true },
];

/** Exact decisions on one real Redis: each is a check of the shared state. */
export const exact: Scenario = {
  name: 'exact',
  async run(stage: Stage): Promise<ScenarioResult> {
    const figures: Record<string, Figures> = {};
    const tables: Table[] = [];
    for (const level of LEVELS) {
      const rounds = await runLevel(level, stage);
      figures[level.name] = levelFigures(rounds);
      tables.push(levelTable(level, rounds));
    }
    return {
      figures: { rounds: stage.effort.rounds, keys: KEYS.length, ...figures },
      tables,
    };
  },
};

async function runLevel(level: Level, stage: Stage): Promise<Round<Measurement>[]> {
  const clients: Redis[] = [];
  const limiters: RedisLimiter[] = [];
  try {
    for (const make of MAKERS) {
      const client = await stage.redis.connect({ enableAutoPipelining: level.autoPipelining });
      clients.push(client);
      limiters.push(await make(client));
    }
    return await compare(limiters, level, stage);
  } finally {
    for (const { forget } of limiters) await Promise.all(KEYS.map(forget));
    for (const client of clients) client.disconnect();
  }
}

async function compare(
  limiters: readonly RedisLimiter[],
  { inFlight }: Level,
  { redis, effort, signal }: Stage,
): Promise<Round<Measurement>[]> {
  const startMs = performance.now();
  const load = { keys: KEYS, inFlight, runMs: effort.runMs };
  const answered = new Map<string, number>();
  const contenders = limiters.map((limiter) => ({
    name: limiter.name,
    measure: async (): Promise<Measurement> => {
      const { checks, ...measurement } = await measure(limiter, load, redis);
      answered.set(limiter.name, (answered.get(limiter.name) ?? 0) + checks);
      return measurement;
    },
  }));
  const rounds = await playRounds(contenders, { ...effort, signal });
  for (const limiter of limiters) {
    await checkCharges(limiter, answered.get(limiter.name) ?? 0, startMs);
  }
  return rounds;
}

async function measure(
  limiter: RedisLimiter,
  load: Load,
  redis: RedisUnderTest,
): Promise<Measurement & { readonly checks: number }> {
  const startRedisUs = await redis.cpuUs();
  const run = await runClosedLoop(limiter, load).catch((error: unknown) => {
    throw new Error(`${limiter.name} with ${load.inFlight} in flight failed`, { cause: error });
  });
  const redisUs = (await redis.cpuUs()) - startRedisUs;
  return {
    checks: run.answered,
    perSecond: (run.answered / run.elapsedMs) * 1000,
    clientCpuUs: run.clientCpuUs / run.answered,
    redisCpuUs: redisUs / run.answered,
  };
}

/**
 * What is stored must be what was answered, else a contender was fast at something else. A bucket
 * that refills may have regained permits since, up to what its policy gives in that time.
 */
async function checkCharges(
  { name, charged }: RedisLimiter,
  answered: number,
  startMs: number,
): Promise<void> {
  const charges = await Promise.all(KEYS.map(charged));
  const stored = charges.reduce((sum, charge) => sum + charge, 0);
  const refillPerKey = Math.ceil(((performance.now() - startMs) * LIMIT) / WINDOW_MS);
  const least = name === OURS ? answered - KEYS.length * refillPerKey : answered;
  if (stored <= answered && stored >= least) return;
  throw new Error(`${name} answered ${answered} checks and has charged ${stored}`);
}
