import type { Duplex } from 'node:stream';
import { pipelinesOf, RawLoad } from '../raw-load.js';
import type { RedisUnderTest } from '../redis-under-test.js';
import { formatNumber, formatRounds } from '../report.js';
import { type Contender, figuresOf, playRounds, type Round, ratioToBestPeer } from '../rounds.js';
import {
  type Figures,
  KEYS,
  LIMIT,
  OURS,
  type ScenarioResult,
  type Stage,
  type Table,
} from '../scenario.js';
import { median, significant } from '../statistics.js';
import { ARTICLE, SCRIPT_MAKERS, type ScriptContender } from './script-contenders.js';

/** Calls of one pipeline. */
const DEPTH = 32;

/** Connections of a contender: while the replies of one are read the server works for others. */
const CONNECTIONS = 4;

/** What the checks are answered with, always. */
interface Answer {
  /** Its place in the JSON. */
  readonly name: 'admitted' | 'denied';
  readonly limit: number;
}

const ANSWERS: readonly Answer[] = [
  { name: 'admitted', limit: LIMIT },
  { name: 'denied', limit: 1 },
];

interface Measurement {
  readonly perSecond: number;
  readonly redisCpuUs: number;
}

type Rounds = readonly Round<Measurement>[];

/** Our script against the one of the articles, each called for one key at a time. */
export async function compareScripts(stage: Stage): Promise<ScenarioResult> {
  const ratios: Record<string, number> = {};
  const cpuRatios: Record<string, number> = {};
  const medians: Record<string, Figures> = {};
  const tables: Table[] = [];
  for (const answer of ANSWERS) {
    const rounds = await playAnswer(answer, stage);
    const { rate, cpu } = ratiosOf(rounds);
    ratios[answer.name] = significant(rate);
    cpuRatios[answer.name] = significant(cpu);
    medians[answer.name] = {
      [OURS]: mediansOf(rounds, OURS),
      [ARTICLE]: mediansOf(rounds, ARTICLE),
    };
    tables.push(tableOf(answer, rounds));
  }
  return {
    figures: {
      rounds: stage.effort.rounds,
      keys: KEYS.length,
      ...ratios,
      redisCpu: cpuRatios,
      medians,
    },
    tables,
  };
}

async function playAnswer(answer: Answer, { redis, effort, signal }: Stage): Promise<Rounds> {
  const client = await redis.connect();
  const scripts = SCRIPT_MAKERS.map((make) => make(client, answer.limit));
  const streams: Duplex[] = [];
  try {
    const contenders: Contender<Measurement>[] = [];
    for (const { name, prepare } of scripts) {
      const loads: RawLoad[] = [];
      const pipelines = pipelinesOf(await prepare(), DEPTH);
      for (let i = 0; i < CONNECTIONS; i++) {
        const stream = await redis.connectRaw();
        streams.push(stream);
        const first = Math.floor((i * pipelines.length) / CONNECTIONS);
        loads.push(new RawLoad(stream, pipelines, DEPTH, first));
      }
      contenders.push({ name, measure: () => measure(loads, effort.runMs, redis) });
    }
    // What is measured from here on is the answer's, and stays so: nothing refills that fast.
    for (const { admitted } of scripts) await admitted();
    const rounds = await playRounds(contenders, { ...effort, signal });
    for (const script of scripts) await checkAnswer(script, answer);
    return rounds;
  } finally {
    for (const stream of streams) stream.destroy();
    for (const { forget } of scripts) await forget();
    client.disconnect();
  }
}

async function measure(
  loads: readonly RawLoad[],
  runMs: number,
  redis: RedisUnderTest,
): Promise<Measurement> {
  const startUs = await redis.cpuUs();
  const startMs = performance.now();
  const counts = await Promise.all(loads.map((load) => load.run(runMs)));
  const elapsedMs = performance.now() - startMs;
  const redisUs = (await redis.cpuUs()) - startUs;
  const calls = counts.reduce((sum, count) => sum + count, 0);
  return { perSecond: (calls / elapsedMs) * 1000, redisCpuUs: redisUs / calls };
}

/** Fails where the script was fast at something else. */
async function checkAnswer(script: ScriptContender, { name }: Answer): Promise<void> {
  const admitted = await script.admitted();
  if (admitted === (name === 'admitted' ? KEYS.length : 0)) return;
  throw new Error(
    `${script.name}: ${admitted} of ${KEYS.length} were let through, not all ${name}`,
  );
}

/** Above 1 ours makes more calls a second; below 1 each costs the server less. */
function ratiosOf(rounds: Rounds): { readonly rate: number; readonly cpu: number } {
  return {
    rate: ratioToBestPeer(rounds, OURS, [ARTICLE], (m) => m.perSecond, 'highest'),
    cpu: ratioToBestPeer(rounds, OURS, [ARTICLE], (m) => m.redisCpuUs, 'lowest'),
  };
}

function mediansOf(rounds: Rounds, name: string): Figures {
  return {
    callsPerSecond: significant(median(figuresOf(rounds, name, (m) => m.perSecond))),
    redisCpuUsPerCall: significant(median(figuresOf(rounds, name, (m) => m.redisCpuUs))),
  };
}

function tableOf({ name }: Answer, rounds: Rounds): Table {
  const { rate, cpu } = ratiosOf(rounds);
  return {
    title:
      `redis: token bucket scripts, all ${name}, ${formatNumber(KEYS.length)} keys, one a call, ` +
      `${CONNECTIONS} connections with pipelines of ${DEPTH}`,
    header: ['script', 'calls/s', 'Redis CPU, µs each'],
    rows: [OURS, ARTICLE].map((script) => [
      script,
      formatRounds(figuresOf(rounds, script, (m) => m.perSecond)),
      formatRounds(
        figuresOf(rounds, script, (m) => m.redisCpuUs),
        2,
      ),
    ]),
    notes: [
      `Ours: ${rate.toFixed(2)} × the calls of the usual script, each with ` +
        `${cpu.toFixed(2)} × its Redis CPU.`,
    ],
  };
}
