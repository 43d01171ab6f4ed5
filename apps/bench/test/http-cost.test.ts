import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type RedisServer, startRedis } from '@rl/testkit';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseArguments } from '../src/http-cost/arguments.js';
import { contendersOf, FRAMEWORKS } from '../src/http-cost/contenders.js';
import { figuresOfRun } from '../src/http-cost/figures.js';
import type { Measurement } from '../src/http-cost/play.js';
import { askWhatIsTold } from '../src/http-cost/told.js';
import { openRedis, type RedisUnderTest } from '../src/redis-under-test.js';
import type { AppLimits } from '../src/servers/app.js';
import { expressApp } from '../src/servers/express-app.js';
import { fastifyApp } from '../src/servers/fastify-app.js';
import { koaApp } from '../src/servers/koa-app.js';
import { openLimits } from '../src/servers/open-limits.js';

const PROGRAM = fileURLToPath(new URL('../dist/http-cost.mjs', import.meta.url));

let server: RedisServer;
let redis: RedisUnderTest;
let client: Redis;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startRedis();
  redis = await openRedis(server.url);
  client = await redis.connect();
});

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

afterAll(async () => {
  client.disconnect();
  await redis.close();
  await server.close();
});

const APPS = { express: expressApp, fastify: fastifyApp, koa: koaApp };

async function listen(app: Server): Promise<number> {
  closers.push(() => app.close());
  await once(app.listen(0, '127.0.0.1'), 'listening');
  return (app.address() as AddressInfo).port;
}

const DRAFT = ['ratelimit', 'ratelimit-policy'];
const USUAL_FIELDS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

test.each(
  FRAMEWORKS.flatMap((app) => contendersOf(app).map((one) => [app, one.name, one] as const)),
)('%s, %s: each request is answered, told of, and counted once', async (app, name, { limits }) => {
  let opened: AppLimits | undefined;
  if (limits !== undefined) {
    const quota = { ...limits, limit: 10, windowMs: 86_400_000 };
    const found = await openLimits({ ...quota, redisUrl: server.url, prefix: `${app}-${name}:` });
    closers.push(...found.closers);
    opened = found.limits;
  }
  const port = await listen(await APPS[app](opened));
  const calls = await redis.scriptCalls();
  const first = await askWhatIsTold(port, ['a', 'b']);
  const second = await askWhatIsTold(port, ['a', 'a', 'b']);
  const headers = limits === undefined ? [] : limits.by === 'rl' ? DRAFT : USUAL_FIELDS;
  const own = name.startsWith('expressRateLimit') ? DRAFT : headers;
  expect(first.headers.map((header) => header.toLowerCase()).sort()).toEqual(own);
  const told = [first.remaining, second.remaining];
  expect(told).toEqual(limits === undefined ? [undefined, undefined] : [9 + 9, 8 + 7 + 8]);
  // One by one, so ours has no two for one call.
  expect((await redis.scriptCalls()) - calls).toBe(limits?.counts === 'redis' ? 5 : 0);
});

async function run(signal: NodeJS.Signals | undefined, ...args: string[]) {
  const { RL_TEST_REDIS_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...env, REDIS_URL: server.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  // As soon as it measures.
  if (signal !== undefined) child.stderr.once('data', () => child.kill(signal));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  return { stdout, stderr, code };
}

const number = expect.toSatisfy(Number.isFinite, 'a number');
const count = expect.toSatisfy((value) => Number.isInteger(value) && value > 0, 'a count');
const spread = { median: number, lower: number, upper: number };

test('a run with --json writes one line of JSON alone, and leaves no key behind', async () => {
  const keys = await client.dbsize();
  const { stdout, code } = await run(undefined, '--json', '--quick', '--only', 'fastify');
  expect(code).toBe(0);
  const servers = contendersOf('fastify').map(({ name, limits }) => [
    name,
    {
      cpuUsPerRequest: spread,
      vsBare: spread,
      addedUs: spread,
      requestsPerSecond: number,
      storeCallsPerRequest: number,
      answered: count,
      ...(limits && { counted: count }),
      headers: expect.any(String),
    },
  ]);
  expect(JSON.parse(stdout)).toEqual({
    fastify: {
      localVsBare: number,
      exactAddedVsBestPeer: number,
      spread: { localVsBare: spread, exactAddedVsBestPeer: spread },
      rounds: 7,
      servers: Object.fromEntries(servers),
    },
  });
  expect(await client.dbsize()).toBe(keys);
}, 60_000);

test('the best peer is that of each round, and what it adds is taken against the bare app of it', () => {
  const contenders = contendersOf('koa');
  const of = (...cpuUs: number[]) =>
    new Map(
      contenders.map(({ name }, i): [string, Measurement] => [
        name,
        { cpuUs: cpuUs[i] as number, perSecond: 1, storeCalls: 0 },
      ]),
    );
  // bare, ours and the peer in memory, then on Redis ours and two peers.
  const rounds = [
    of(10, 11, 12, 20, 30, 50),
    of(20, 22, 30, 30, 100, 60),
    of(10, 13, 12, 20, 60, 110),
  ];
  const figures = figuresOfRun({ app: 'koa', contenders, rounds, accounts: new Map() });
  expect(figures).toMatchObject({
    localVsBare: 1.1,
    exactAddedVsBestPeer: 0.25,
    spread: { exactAddedVsBestPeer: { lower: 0.225, upper: 0.375 } },
  });
});

test('an interrupted run ends with the code of the signal', async () => {
  const keys = await client.dbsize();
  const { stdout, stderr, code } = await run('SIGINT', '--json', '--only', 'fastify');
  expect({ stdout, code }).toEqual({ stdout: '', code: 130 });
  expect(stderr.trimEnd().split('\n').at(-1)).toBe('interrupted by SIGINT');
  expect(await client.dbsize()).toBe(keys);
}, 60_000);

test.each([
  ['--fast', "Unknown option '--fast'"],
  ['--rounds=6', '--rounds must be an integer from 7 to 99, not 6'],
  ['--only=hapi', '--only must be one of express, fastify, koa, not "hapi"'],
])('%s is refused', (argument, complaint) => {
  expect(() => parseArguments([argument])).toThrow(complaint);
});
