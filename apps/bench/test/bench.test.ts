import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ALGORITHMS } from '@rl/core';
import { type RedisServer, startRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../dist/main.mjs', import.meta.url));

let server: RedisServer;
let redis: Redis;
const children: ChildProcess[] = [];

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});

afterAll(async () => {
  // Those of a test that failed: others have ended.
  for (const child of children) child.kill('SIGKILL');
  redis.disconnect();
  await server.close();
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the bench on the server of this file. */
function start(...args: string[]): {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
} {
  const { RL_TEST_REDIS_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--expose-gc', PROGRAM, ...args], {
    env: { ...env, REDIS_URL: server.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const ended = (async () => {
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { code, stdout, stderr };
  })();
  return { child, ended };
}

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  let all = '';
  for await (const chunk of stream) all += chunk;
  return all;
}

const positive = expect.toSatisfy((value) => Number.isFinite(value) && value > 0, 'positive');

const level = {
  vsBestPeer: positive,
  cpuVsBestPeer: positive,
  redisCpuVsBestPeer: positive,
  contenders: Object.fromEntries(
    ['rl', 'rateLimitRedis', 'rateLimiterFlexible'].map((name) => [
      name,
      {
        decisionsPerSecond: positive,
        clientCpuUsPerDecision: positive,
        redisCpuUsPerDecision: positive,
      },
    ]),
  ),
};

const fraction = expect.toSatisfy((value) => value >= 0 && value <= 1, 'from 0 to 1');
const count = expect.toSatisfy((value) => Number.isInteger(value) && value >= 0, 'a count');

/** Another server's, which gives a lease back at the end of its time. */
const few = expect.toSatisfy((value) => value >= 0 && value < 0.1, 'hardly any');

const servers = (...names: string[]) =>
  Object.fromEntries(
    names.map((name) => [
      name,
      {
        cpuUsPerRequest: positive,
        requestsPerSecond: positive,
        storeCallsPerRequest: name === 'rl' ? fraction : few,
      },
    ]),
  );

const counted = { vsWithout: positive, nsPerDecision: positive, nsWithout: positive };

const lease = {
  nsPerDecision: positive,
  vsExpressMemoryStore: positive,
  local: {
    rounds: positive,
    waitedShare: fraction,
    expressMemoryStore: { nsPerDecision: positive },
  },
  cpuVsBare: {
    express: positive,
    expressRateLimit: positive,
    fastify: positive,
    koa: positive,
  },
  cpu: {
    rounds: positive,
    express: servers('bare', 'rl', 'expressRateLimit'),
    fastify: servers('bare', 'rl'),
    koa: servers('bare', 'rl'),
  },
  http: {
    replicas: 8,
    offered: 2000,
    offeredPerSecond: positive,
    mostLateMs: positive,
    answered: 2000,
    admitted: positive,
    denied: count,
    failed: 0,
    seconds: positive,
    quotaTotal: positive,
    admittedVsQuota: fraction,
    overshoot: 0,
    storeCalls: positive,
    callsPerRequest: fraction,
    cores: { replicas: positive, load: positive, redis: positive },
  },
};

const scripts = Object.fromEntries(
  ['rl', 'article'].map((name) => [
    name,
    { callsPerSecond: positive, redisCpuUsPerCall: positive },
  ]),
);

test('a run with --json ends with one line of JSON and leaves no key behind', async () => {
  const { code, stdout, stderr } = await start('--json', '--quick').ended;
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: ['exact', 'local', 'redis', 'lease-local', 'lease-cpu', 'lease-http', 'metrics']
      .map((name) => `measuring ${name} ...\n`)
      .join(''),
  });
  expect(stdout.endsWith('}\n')).toBe(true);
  expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) as string)).toEqual({
    mode: 'quick',
    node: process.versions.node,
    redisVersion: expect.stringMatching(/^\d+\.\d+/),
    cpus: positive,
    exact: {
      rounds: positive,
      keys: 1000,
      c64: level,
      c256: level,
      c256AutoPipelining: level,
    },
    local: {
      rounds: positive,
      keys: 1000,
      nsPerDecision: positive,
      vsExpressMemoryStore: positive,
      contenders: Object.fromEntries(
        ['rl', 'rlConsume', 'expressMemoryStore', 'rateLimiterFlexibleMemory'].map((name) => [
          name,
          { nsPerDecision: positive },
        ]),
      ),
    },
    redis: {
      scriptVsArticle: {
        rounds: positive,
        keys: 1000,
        admitted: positive,
        denied: positive,
        redisCpu: { admitted: positive, denied: positive },
        medians: { admitted: scripts, denied: scripts },
      },
      bytesPerBucket: {
        keys: 100,
        ...Object.fromEntries(ALGORITHMS.map((algorithm) => [algorithm, positive])),
        peers: { rateLimitRedis: positive, rateLimiterFlexible: positive },
      },
    },
    lease,
    metrics: { rounds: positive, memory: counted, lease: counted },
  });
  expect(await redis.dbsize()).toBe(0);
}, 120_000);

test('--only runs what it names', async () => {
  const { code, stdout, stderr } = await start('--json', '--quick', '--only', 'local').ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'measuring local ...\n' });
  const report = JSON.parse(stdout.trimEnd().split('\n').at(-1) as string);
  expect(Object.keys(report).slice(4)).toEqual(['local']);
}, 60_000);

test.each(['exact', 'lease-http'])(
  'an interrupted run of %s removes its keys and ends with the code of the signal',
  async (name) => {
    const { child, ended } = start('--only', name);
    while ((await redis.dbsize()) === 0 && child.exitCode === null) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect({ code, stderr }).toEqual({
      code: 143,
      stderr: `measuring ${name} ...\ninterrupted by SIGTERM\n`,
    });
    expect(await redis.dbsize()).toBe(0);
  },
  60_000,
);

test.each([
  ['--fast', "Unknown option '--fast'"],
  ['exact', "Unexpected argument 'exact'"],
  ['--only=fast', '--only must be one of exact, local, '],
])('%s is refused before anything is measured', async (argument, complaint) => {
  const { code, stdout, stderr } = await start('--json', argument).ended;
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(complaint);
  expect(stderr).toContain('usage: npm run bench -- [--json] [--quick] [--only <scenario>]...');
});
