/**
 * The bench: every figure the README quotes, with other rate limiters beside ours in the same run.
 * Tables go to stdout, with `--json` followed by one line of JSON; progress goes to stderr.
 */
import { availableParallelism } from 'node:os';
import { sharedRedis } from '@rl/testkit';
import { abortOnSignal } from './abort-on-signal.js';
import { type Arguments, parseArguments, USAGE } from './arguments.js';
import { openRedis } from './redis-under-test.js';
import { renderTable } from './report.js';
import { runScenario } from './run-scenario.js';
import type { Effort, Figures } from './scenario.js';
import { SCENARIOS } from './scenarios/index.js';

const FULL: Effort = { rounds: 41, warmUpMs: 800, runMs: 120, decisions: 50_000, fleetMs: 10_000 };
const QUICK: Effort = { rounds: 5, warmUpMs: 0, runMs: 20, decisions: 5_000, fleetMs: 100 };

async function run({ json, quick, only }: Arguments, signal: AbortSignal): Promise<void> {
  const { url: redisUrl } = await sharedRedis();
  const redis = await openRedis(redisUrl);
  await redis.close();
  const facts: Figures = {
    mode: quick ? 'quick' : 'full',
    node: process.versions.node,
    redisVersion: redis.version,
    cpus: availableParallelism(),
  };
  console.log(`Node ${facts.node}, Redis ${facts.redisVersion}, ${facts.cpus} CPUs`);
  if (quick) console.log('A smoke run: its figures mean nothing.');
  console.log('Medians of the rounds, and in brackets their middle half.');

  const results: Record<string, Figures> = {};
  for (const { name, place = name, onRequest = false } of SCENARIOS) {
    if (only.length > 0 ? !only.includes(name) : onRequest) continue;
    process.stderr.write(`measuring ${name} ...\n`);
    const order = { scenario: name, effort: quick ? QUICK : FULL, redisUrl };
    const { figures, tables } = await runScenario(order, signal);
    results[place] = { ...results[place], ...figures };
    for (const table of tables) console.log(`\n${renderTable(table)}`);
  }
  if (json) console.log(JSON.stringify({ ...facts, ...results }));
}

async function main(): Promise<number> {
  let parsed: Arguments;
  try {
    parsed = parseArguments(
      process.argv.slice(2),
      SCENARIOS.map(({ name }) => name),
    );
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`);
    return 2;
  }
  const interruption = abortOnSignal();
  try {
    await run(parsed, interruption.signal);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return interruption.exitCode() ?? 1;
  }
}

process.exitCode = await main();
