import { createLimiter, memoryStore } from '@rl/core';
import { MemoryStore } from 'express-rate-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { formatNumber, formatRounds } from '../report.js';
import { type Contender, figuresOf, playRounds, ratioToBestPeer } from '../rounds.js';
import {
  type Figures,
  KEYS,
  LIMIT,
  OURS,
  type Scenario,
  type ScenarioResult,
  type Stage,
  WINDOW_MS,
} from '../scenario.js';
import { median, significant } from '../statistics.js';

/** Nanoseconds a decision. */
type Nanoseconds = number;

const EXPRESS = 'expressMemoryStore';

/** One decision after the other in this process's memory. */
export const local: Scenario = {
  name: 'local',
  async run({ effort, signal }: Stage): Promise<ScenarioResult> {
    const { contenders, close } = makeContenders(effort.decisions);
    try {
      const rounds = await playRounds(contenders, { ...effort, signal });
      const names = contenders.map(({ name }) => name);
      const nsOf = (name: string): number[] => figuresOf(rounds, name, (ns) => ns);
      const vsExpress = 1 / ratioToBestPeer(rounds, OURS, [EXPRESS], (ns) => ns, 'lowest');
      const figures: Figures = {
        rounds: effort.rounds,
        keys: KEYS.length,
        nsPerDecision: significant(median(nsOf(OURS))),
        vsExpressMemoryStore: significant(vsExpress),
        contenders: Object.fromEntries(
          names.map((name) => [name, { nsPerDecision: significant(median(nsOf(name))) }]),
        ),
      };
      const table = {
        title: `local: memory of one process, ${formatNumber(KEYS.length)} keys`,
        header: ['contender', 'ns a decision'],
        rows: names.map((name) => [name, formatRounds(nsOf(name))]),
        notes: [
          `express-rate-limit's MemoryStore takes ${vsExpress.toFixed(2)} × our time a decision.`,
        ],
      };
      return { figures, tables: [table] };
    } finally {
      await close();
    }
  },
};

/**
 * Each is asked as an app or its own middleware asks it: what answers at once is not awaited, what
 * answers with a promise is. Every answer is looked at, so none can be optimised away.
 */
function makeContenders(decisions: number): {
  contenders: readonly Contender<Nanoseconds>[];
  close(): Promise<void>;
} {
  const policies = { k: { limit: LIMIT, window: WINDOW_MS } };
  const limiter = createLimiter({ policies, store: memoryStore() });
  const awaited = createLimiter({ policies, store: memoryStore() });
  const express = new MemoryStore();
  // Of the middleware's options it reads this one alone.
  express.init({ windowMs: WINDOW_MS } as Parameters<typeof express.init>[0]);
  const flexible = new RateLimiterMemory({ points: LIMIT, duration: WINDOW_MS / 1000 });

  const contenders: Contender<Nanoseconds>[] = [
    {
      name: OURS,
      measure: () =>
        time(decisions, async () => {
          let admitted = 0;
          for (let i = 0; i < decisions; i++) {
            const decision = limiter.tryConsume({ k: keyOf(i) });
            if (decision?.allowed && decision.remaining < LIMIT) admitted++;
          }
          return admitted;
        }),
    },
    {
      name: 'rlConsume',
      measure: () =>
        time(decisions, async () => {
          let admitted = 0;
          for (let i = 0; i < decisions; i++) {
            const decision = await awaited.consume({ k: keyOf(i) });
            if (decision.allowed && decision.remaining < LIMIT) admitted++;
          }
          return admitted;
        }),
    },
    {
      name: EXPRESS,
      measure: () =>
        time(decisions, async () => {
          let admitted = 0;
          for (let i = 0; i < decisions; i++) {
            const { totalHits, resetTime } = await express.increment(keyOf(i));
            if (totalHits <= LIMIT && resetTime !== undefined) admitted++;
          }
          return admitted;
        }),
    },
    {
      name: 'rateLimiterFlexibleMemory',
      measure: () =>
        time(decisions, async () => {
          let admitted = 0;
          for (let i = 0; i < decisions; i++) {
            const { remainingPoints } = await flexible.consume(keyOf(i));
            if (remainingPoints < LIMIT) admitted++;
          }
          return admitted;
        }),
    },
  ];
  return {
    contenders,
    async close() {
      await limiter.close();
      await awaited.close();
      express.shutdown();
      for (const key of KEYS) await flexible.delete(key);
    },
  };
}

function keyOf(i: number): string {
  return KEYS[i % KEYS.length] as string;
}

/** Fails where not every decision admitted its call: the limits are out of reach. */
async function time(decisions: number, decideAll: () => Promise<number>): Promise<Nanoseconds> {
  const startMs = performance.now();
  const admitted = await decideAll();
  const elapsedMs = performance.now() - startMs;
  if (admitted !== decisions) throw new Error(`${decisions - admitted} calls were not admitted`);
  return (elapsedMs * 1e6) / decisions;
}
