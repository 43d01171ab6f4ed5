import { createLimiter, type Limiter, type LimiterOptions } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { randomPrefix } from '@rl/testkit';
import { PATIENT } from '../patient.js';
import { formatRounds } from '../report.js';
import { type Contender, figuresOf, playRounds, ratioToBestPeer } from '../rounds.js';
import {
  KEYS,
  LIMIT,
  type Scenario,
  type ScenarioResult,
  type Stage,
  WINDOW_MS,
} from '../scenario.js';
import { median, significant } from '../statistics.js';

/** Where a local decision is made, and of how many clients. */
const WAYS = [
  { name: 'memory', keys: KEYS },
  { name: 'lease', keys: ['k'] },
] as const;

/** Of a lease: out of reach, with one key alone. */
const LEASED = { limit: 1_000_000_000, window: 1000, lease: true };

/** Decisions of one turn of the event loop: between turns leases are renewed. */
const TURN = 5000;

/** What it costs a local decision that it is counted: limiters that count beside limiters that do not. */
export const metrics: Scenario = {
  name: 'metrics',
  async run({ redis, effort, signal }: Stage): Promise<ScenarioResult> {
    const prefix = randomPrefix();
    const client = await redis.connect();
    const store = redisStore(client, { prefix });
    const limiters: Limiter<'p'>[] = [];
    const contenders: Contender<number>[] = [];
    for (const { name, keys } of WAYS) {
      for (const isCounted of [true, false]) {
        // Buckets of their own, so that neither waits for what the other holds.
        const own = keys.map((key) => `${key}-${isCounted}`);
        const limiter = open(name === 'lease' ? store : undefined, isCounted);
        limiters.push(limiter);
        const measure = () => time(limiter, own, effort.decisions);
        contenders.push({ name: isCounted ? name : without(name), measure });
      }
    }
    try {
      const rounds = await playRounds(contenders, { ...effort, signal });
      const nsOf = (name: string): number[] => figuresOf(rounds, name, (ns) => ns);
      const vsWithout = (name: string): number =>
        ratioToBestPeer(rounds, name, [without(name)], (ns) => ns, 'lowest');
      return {
        figures: {
          rounds: effort.rounds,
          ...Object.fromEntries(
            WAYS.map(({ name }) => [
              name,
              {
                vsWithout: significant(vsWithout(name)),
                nsPerDecision: significant(median(nsOf(name))),
                nsWithout: significant(median(nsOf(without(name)))),
              },
            ]),
          ),
        },
        tables: [
          {
            title: 'metrics: local decisions, counted and not',
            header: ['decided by', 'ns counted', 'ns not counted', 'ratio'],
            rows: WAYS.map(({ name }) => [
              name,
              formatRounds(nsOf(name)),
              formatRounds(nsOf(without(name))),
              vsWithout(name).toFixed(3),
            ]),
            notes: [],
          },
        ],
      };
    } finally {
      for (const limiter of limiters) await limiter.close();
      await store.close();
      await redis.removeKeys(prefix);
      client.disconnect();
    }
  },
};

function without(name: string): string {
  return `${name}WithoutMetrics`;
}

function open(store: LimiterOptions['store'], isCounted: boolean): Limiter<'p'> {
  const policy = store === undefined ? { limit: LIMIT, window: WINDOW_MS } : LEASED;
  return createLimiter({ policies: { p: policy }, store, fallback: PATIENT, metrics: isCounted });
}

/** Nanoseconds a decision. @throws Error where not every decision admitted its call */
async function time(
  limiter: Limiter<'p'>,
  keys: readonly string[],
  decisions: number,
): Promise<number> {
  let admitted = 0;
  const startMs = performance.now();
  for (let made = 0; made < decisions; made += TURN) {
    for (let i = 0; i < TURN; i++) {
      const call = { p: keys[i % keys.length] as string };
      const decision = limiter.tryConsume(call) ?? (await limiter.consume(call));
      if (decision.allowed && decision.remaining < decision.limit) admitted++;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  const elapsedMs = performance.now() - startMs;
  if (admitted !== decisions) throw new Error(`${decisions - admitted} calls were not admitted`);
  return (elapsedMs * 1e6) / decisions;
}
