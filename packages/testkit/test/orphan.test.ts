import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RedisServer } from '../src/index.js';
import { spawnGuarded } from '../src/orphan-guard.js';
import { whyNoAnswer } from '../src/ready.js';

const FIXTURE = fileURLToPath(new URL('fixtures/die-with-a-server.mjs', import.meta.url));

/** Whether a process runs. One that has ended but was not yet reaped by its new parent does not. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Resolves when `condition` holds; where it never does, the test runs into its time limit. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(10);
}

describe('a server whose process was killed with SIGKILL', () => {
  test.each(['port', 'socket'])('is gone soon after (%s)', { timeout: 60_000 }, async (listen) => {
    const child = fork(FIXTURE, [listen]);
    const messages = once(child, 'message');
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    const [server] = (await messages) as [Pick<RedisServer, 'url' | 'connection' | 'pid'>];
    expect(signal).toBe('SIGKILL');
    await until(async () => (await whyNoAnswer(server, 1_000)) !== undefined);
    const { pid } = server;
    if (pid !== undefined) await until(() => !lives(pid));
    const { path } = server.connection;
    if (path !== undefined) await until(() => !existsSync(join(path, '..')));
  });
});

describe('spawnGuarded', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test('the pid is that of the program itself', async () => {
    const script = 'console.log(process.pid); setInterval(() => {}, 1000)';
    const guarded = await spawnGuarded(process.execPath, ['-e', script], folder);
    await until(() => guarded.output() !== '');
    expect(guarded.output()).toBe(String(guarded.pid));
    guarded.signal('SIGKILL');
    await guarded.ended;
    expect(guarded.ending).toBe('signal SIGKILL');
    expect(lives(guarded.pid)).toBe(false);
  });

  test('a program that ends leaves its folder to us', async () => {
    const guarded = await spawnGuarded(process.execPath, ['-e', 'process.exit(3)'], folder);
    await guarded.ended;
    expect(guarded.ending).toBe('exit code 3');
    expect(existsSync(folder)).toBe(true);
  });

  test('arguments arrive as they are, empty ones and spaces too', async () => {
    const script = 'console.log(JSON.stringify(process.argv.slice(1)))';
    const args = ['--save', '', 'a b', '$HOME', "it's"];
    const guarded = await spawnGuarded(process.execPath, ['-e', script, '--', ...args], folder);
    await guarded.ended;
    expect(JSON.parse(guarded.output())).toEqual(args);
  });

  test('a program that is not there ends at once and says so', async () => {
    const guarded = await spawnGuarded('/nowhere/redis-server', [], folder);
    await guarded.ended;
    expect(guarded.ending).toMatch(/^exit code 12[67]$/);
    expect(guarded.output()).toContain('/nowhere/redis-server');
  });
});
