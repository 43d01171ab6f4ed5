import { createLimiter } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { randomPrefix } from '@rl/testkit';
import { MemoryStore } from 'express-rate-limit';
import { PATIENT } from '../patient.js';
import { formatRounds } from '../report.js';
import { type Contender, figuresOf, playRounds, ratioToBestPeer } from '../rounds.js';
import { OURS, type Scenario, type ScenarioResult, type Stage } from '../scenario.js';
import { median, significant } from '../statistics.js';

/** Of one contender in one round. */
interface Measurement {
  /** Nanoseconds a decision. */
  readonly ns: number;
  /** Share of the decisions that had to wait for the store. */
  readonly waited: number;
}

const EXPRESS = 'expressMemoryStore';

/** Both have one client, as a lease is one client's. */
const KEY = 'k';

/** Out of reach: decisions one after the other are millions a second. */
const LIMIT = 1_000_000_000;
const WINDOW_MS = 1000;

/**
 * Decisions of one turn of the event loop, for both. Between turns leases are renewed, and that is
 * timed too; with so many the turn itself, which is no decision, costs each next to nothing.
 */
const TURN = 5000;

/** One decision after the other from a lease on Redis, and in the memory of a middleware. */
export const leaseLocal: Scenario = {
  name: 'lease-local',
  place: 'lease',
  async run(stage: Stage): Promise<ScenarioResult> {
    const { effort } = stage;
    const rounds = await play(stage);
    const nsOf = (name: string): number[] => figuresOf(rounds, name, ({ ns }) => ns);
    const waited = median(figuresOf(rounds, OURS, (m) => m.waited));
    const vsExpress = 1 / ratioToBestPeer(rounds, OURS, [EXPRESS], ({ ns }) => ns, 'lowest');
    return {
      figures: {
        nsPerDecision: significant(median(nsOf(OURS))),
        vsExpressMemoryStore: significant(vsExpress),
        local: {
          rounds: effort.rounds,
          waitedShare: significant(waited),
          [EXPRESS]: { nsPerDecision: significant(median(nsOf(EXPRESS))) },
        },
      },
      tables: [
        {
          title: 'lease-local: one client, a warm lease on one Redis',
          header: ['contender', 'ns a decision'],
          rows: [OURS, EXPRESS].map((name) => [name, formatRounds(nsOf(name))]),
          notes: [
            `express-rate-limit's MemoryStore takes ${vsExpress.toFixed(2)} × our time a decision. ` +
              `Of ours ${(100 * waited).toFixed(2)} % waited for the store.`,
          ],
        },
      ],
    };
  },
};

async function play({ redis, effort, signal }: Stage): ReturnType<typeof playRounds<Measurement>> {
  const prefix = randomPrefix();
  const client = await redis.connect();
  const store = redisStore(client, { prefix });
  const policy = { limit: LIMIT, window: WINDOW_MS, lease: true };
  const limiter = createLimiter({ policies: { tenant: policy }, store, fallback: PATIENT });
  const express = new MemoryStore();
  // Of the middleware's options it reads this one alone.
  express.init({ windowMs: WINDOW_MS } as Parameters<typeof express.init>[0]);

  const contenders: Contender<Measurement>[] = [
    {
      name: OURS,
      measure: () =>
        time(effort.decisions, async (decisions) => {
          let admitted = 0;
          let waited = 0;
          for (let i = 0; i < decisions; i++) {
            let decision = limiter.tryConsume({ tenant: KEY });
            if (decision === undefined) {
              waited++;
              decision = await limiter.consume({ tenant: KEY });
            }
            if (decision.allowed && decision.remaining < LIMIT) admitted++;
          }
          return { admitted, waited };
        }),
    },
    {
      name: EXPRESS,
      measure: () =>
        time(effort.decisions, async (decisions) => {
          let admitted = 0;
          for (let i = 0; i < decisions; i++) {
            const { totalHits, resetTime } = await express.increment(KEY);
            if (totalHits <= LIMIT && resetTime !== undefined) admitted++;
          }
          return { admitted, waited: 0 };
        }),
    },
  ];
  try {
    return await playRounds(contenders, { ...effort, signal });
  } finally {
    express.shutdown();
    await limiter.close();
    await store.close();
    await redis.removeKeys(prefix);
    client.disconnect();
  }
}

/** Fails where not every decision admitted its call: the limits are out of reach. */
async function time(
  decisions: number,
  decide: (decisions: number) => Promise<{ admitted: number; waited: number }>,
): Promise<Measurement> {
  let admitted = 0;
  let waited = 0;
  const startMs = performance.now();
  for (let made = 0; made < decisions; made += TURN) {
    const turn = await decide(Math.min(TURN, decisions - made));
    admitted += turn.admitted;
    waited += turn.waited;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const elapsedMs = performance.now() - startMs;
  if (admitted !== decisions) throw new Error(`${decisions - admitted} calls were not admitted`);
  return { ns: (elapsedMs * 1e6) / decisions, waited: waited / decisions };
}
