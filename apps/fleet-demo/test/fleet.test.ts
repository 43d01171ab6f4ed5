import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomPrefix, sharedRedis } from '@rl/testkit';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Fleet, InProcessFleet, ProcessFleet } from '../src/fleet.js';
import { API_KEY, POLICY } from '../src/quota.js';
import { connectRedis } from '../src/redis.js';
import type { ReplicaConfig, ReplicaReady } from '../src/replica.js';

// Processes start: soon on a machine at rest, not so on one that runs all tests at once.
vi.setConfig({ testTimeout: 60_000 });

const REPLICA = fileURLToPath(new URL('../dist/replica.mjs', import.meta.url));

let folder: string;
let config: ReplicaConfig;
let fleet: Fleet | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fleet-'));
  config = { limit: 2, replicas: 3, redisUrl: (await sharedRedis()).url, prefix: randomPrefix() };
});
afterEach(() => fleet?.stop());
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  const redis = await connectRedis(config.redisUrl);
  await redis.del(`${config.prefix}:{${API_KEY}}:${POLICY}:tb1`);
  redis.disconnect();
});

/** A replica that does something else. */
async function entry(name: string, source: string): Promise<string> {
  const path = join(folder, `${name}.mjs`);
  await writeFile(path, source);
  return path;
}

async function statuses(ports: readonly number[], path: string): Promise<number[]> {
  const found: number[] = [];
  for (const port of ports) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { 'x-api-key': API_KEY },
    });
    await response.arrayBuffer();
    found.push(response.status);
  }
  return found;
}

test.each([
  ['in this process', () => new InProcessFleet(2, 3)],
  ['in processes', () => new ProcessFleet(config, REPLICA)],
])('replicas %s: two permits for each, or two for all', async (_where, create) => {
  fleet = create();
  await fleet.add(2);
  await fleet.add(1);
  const [a = 0, b = 0, c = 0] = fleet.ports;
  expect(await statuses([a, b, c, a, b, c, a], '/per-replica')).toEqual([
    ...[200, 200, 200, 200, 200, 200],
    429,
  ]);
  expect(await statuses([a, b, c, a], '/shared')).toEqual([200, 200, 429, 429]);
  fleet.check();
  await fleet.stop();
  await expect(statuses([a], '/shared')).rejects.toThrow();
  fleet.check();
});

test('a replica that ends before it is ready fails the start', async () => {
  fleet = new ProcessFleet(config, await entry('early', 'process.exit(3)'));
  await expect(fleet.add(2)).rejects.toThrow(/^replica [12] ended with exit code 3$/);
});

test('a replica that ends later is noticed', async () => {
  const source = `process.on('message', () => process.send({ port: 1 }, () => process.exit(4)));`;
  const running = new ProcessFleet(config, await entry('late', source));
  fleet = running;
  await running.add(1);
  await vi.waitFor(() => expect(() => running.check()).toThrow('replica 1 ended with exit code 4'));
});

test('a replica that lost the one who started it ends, whatever it is doing', async () => {
  const children: ChildProcess[] = [];
  const start = (): [ChildProcess, Promise<unknown[]>] => {
    const child = fork(REPLICA, { execArgv: [], silent: true });
    children.push(child);
    return [child, once(child, 'exit')];
  };
  try {
    const [starting, startingEnded] = start();
    starting.disconnect();
    expect((await startingEnded)[1]).toBeNull();

    const [serving, servingEnded] = start();
    serving.send(config);
    const [ready] = (await once(serving, 'message')) as [ReplicaReady];
    // Ctrl-C, which the whole group gets, is for the demo to act on.
    serving.kill('SIGINT');
    expect(await statuses([ready.port], '/per-replica')).toEqual([200]);
    serving.disconnect();
    expect(await servingEnded).toEqual([0, null]);
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
});
