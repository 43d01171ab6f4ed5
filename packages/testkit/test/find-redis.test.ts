import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findRedis, findStartableRedis, type RedisProbes } from '../src/find-redis.js';

/** A machine with these programs on PATH, with or without Docker, that notes what it is asked. */
function machine(programs: readonly string[], docker: boolean): RedisProbes & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    which: async (program) => {
      asked.push(program);
      return programs.includes(program) ? `/usr/bin/${program}` : undefined;
    },
    dockerAnswers: async () => {
      asked.push('docker');
      return docker;
    },
  };
}

describe('findRedis', () => {
  test('REDIS_URL comes first, and nothing else is asked', async () => {
    const probes = machine(['redis-server'], true);
    const url = 'redis://cache.internal:6380';
    expect(await findRedis({ REDIS_URL: url }, probes)).toEqual({ kind: 'url', url });
    expect(probes.asked).toEqual([]);
  });

  test('then redis-server on PATH', async () => {
    const probes = machine(['valkey-server', 'redis-server'], true);
    expect(await findRedis({}, probes)).toEqual({ kind: 'binary', path: '/usr/bin/redis-server' });
    expect(probes.asked).toEqual(['redis-server']);
  });

  test('then valkey-server on PATH', async () => {
    const probes = machine(['valkey-server'], true);
    expect(await findRedis({}, probes)).toEqual({ kind: 'binary', path: '/usr/bin/valkey-server' });
    expect(probes.asked).toEqual(['redis-server', 'valkey-server']);
  });

  test('then a Docker engine', async () => {
    const probes = machine([], true);
    expect(await findRedis({}, probes)).toEqual({ kind: 'container' });
    expect(probes.asked).toEqual(['redis-server', 'valkey-server', 'docker']);
  });

  test('an empty REDIS_URL counts as absent', async () => {
    const found = await findRedis({ REDIS_URL: '' }, machine(['redis-server'], false));
    expect(found.kind).toBe('binary');
  });

  test('none: the error says how to get one', async () => {
    const failure = findRedis({}, machine([], false));
    await expect(failure).rejects.toThrow('apt-get install redis-server');
    await expect(failure).rejects.toThrow('brew install redis');
    await expect(failure).rejects.toThrow('start Docker');
    await expect(failure).rejects.toThrow('REDIS_URL=');
  });

  test.each(['localhost:6379', 'http://localhost:6379', 'redis://', 'redis://h:1/orders'])(
    'REDIS_URL=%s is refused by name, not passed over',
    async (url) => {
      const failure = findRedis({ REDIS_URL: url }, machine(['redis-server'], true));
      await expect(failure).rejects.toThrow(/^REDIS_URL must .* not "/);
    },
  );

  test('by itself it looks along PATH for a file that can be run', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'path-'));
    const path = join(folder, 'valkey-server');
    await writeFile(path, '', { mode: 0o755 });
    await writeFile(join(folder, 'redis-server'), '', { mode: 0o644 });
    const found = await findRedis({ PATH: ['/nowhere', '', folder].join(delimiter) });
    await rm(folder, { recursive: true });
    expect(found).toEqual({ kind: 'binary', path });
  });
});

describe('findStartableRedis', () => {
  test('passes REDIS_URL over: that server is not ours to stop', async () => {
    const found = await findStartableRedis(
      { REDIS_URL: 'redis://cache.internal' },
      machine(['redis-server'], false),
    );
    expect(found).toEqual({ kind: 'binary', path: '/usr/bin/redis-server' });
  });

  test('none: the error says why REDIS_URL is no help and what is', async () => {
    const failure = findStartableRedis({ REDIS_URL: 'redis://c' }, machine([], false));
    await expect(failure).rejects.toThrow(
      /cannot use REDIS_URL[\s\S]*apt-get install redis-server/,
    );
  });
});
