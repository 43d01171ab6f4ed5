/**
 * What a rate limiter costs an app of Express, Fastify and Koa: ours, in memory and on Redis, with
 * the limiters most used there in the same rounds. Tables go to stdout, or with `--json` one line of
 * JSON, and the tables to stderr; so does progress.
 */
import { availableParallelism } from 'node:os';
import { sharedRedis } from '@rl/testkit';
import { openRedis, type RedisUnderTest } from '../redis-under-test.js';
import { renderTable } from '../report.js';
import { runProgram } from '../run-program.js';
import type { Figures } from '../scenario.js';
import { type Arguments, parseArguments, USAGE } from './arguments.js';
import { figuresOfRun, tableOfRun } from './figures.js';
import { playFramework } from './play.js';

async function run(asked: Arguments, signal: AbortSignal): Promise<number> {
  const redis = await openRedis((await sharedRedis()).url);
  try {
    return await runOn(redis, asked, signal);
  } finally {
    await redis.close();
  }
}

async function runOn(
  redis: RedisUnderTest,
  { json, frameworks, effort }: Arguments,
  signal: AbortSignal,
): Promise<number> {
  const print = json ? console.error : console.log;
  print(
    `Node ${process.versions.node}, Redis ${redis.version}, ${availableParallelism()} CPUs. ` +
      'Medians of the rounds, and in brackets their middle half.',
  );
  const figures: Record<string, Figures> = {};
  for (const app of frameworks) {
    process.stderr.write(`measuring ${app} ...\n`);
    const played = await playFramework(app, redis, effort, signal);
    figures[app] = figuresOfRun(played);
    print(`\n${renderTable(tableOfRun(played))}`);
  }
  if (json) console.log(JSON.stringify(figures));
  return 0;
}

process.exitCode = await runProgram(parseArguments, USAGE, run);
