import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type RedisServer, startFaultProxy, startRedis } from '@rl/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, askAtOnce, askInTurn } from './client.js';
import type { Target } from './framework.js';

/**
 * What the program of an example service does: where it counts, what it prints, how it ends. The
 * customers ann and cleo have five requests a minute each.
 *
 * @param program a built server, which prints its URL first
 */
export function describeServer(program: URL): void {
  describe('the program', () => {
    let redis: RedisServer;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.close());

    test.each([
      ['SIGTERM', 'memory'],
      ['SIGINT', 'Redis'],
    ] as const)('ends cleanly at %s with its quotas in %s', async (signal, where) => {
      const { REDIS_URL: _, PORT: __, ...env } = process.env;
      const service = spawn(process.execPath, [fileURLToPath(program)], {
        env: where === 'Redis' ? { ...env, ...patient(redis) } : env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const { target, line } = await firstLine(service);
        expect(line).toContain(`quotas in ${where}`);
        const question = { headers: { 'x-api-key': 'key-of-ann' } };
        expect(await askAtOnce(target, 6, question)).toEqual({ 200: 5, 429: 1 });
        expect((await ask(target)).status).toBe(401);
        service.kill(signal);
        expect(await once(service, 'exit')).toEqual([0, null]);
      } finally {
        service.kill('SIGKILL');
      }
    });

    test('starts while its Redis is away, has its quotas all the same, and ends cleanly', async () => {
      const away = await startFaultProxy(redis);
      await away.refuse();
      const service = spawn(process.execPath, [fileURLToPath(program)], {
        env: { ...process.env, PORT: '0', REDIS_URL: away.url },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      try {
        const complaints = text(service.stderr);
        const { target } = await firstLine(service);
        const question = { headers: { 'x-api-key': 'key-of-ann' } };
        expect(await askInTurn(target, 7, question)).toEqual([200, 200, 200, 200, 200, 429, 429]);
        service.kill('SIGTERM');
        expect(await once(service, 'exit')).toEqual([0, null]);
        expect(await complaints).toMatch(/^Redis: .*ECONNREFUSED/m);
      } finally {
        service.kill('SIGKILL');
        await away.close();
      }
    });

    test('two of it share the quotas in Redis', async () => {
      const env = { ...process.env, PORT: '0', ...patient(redis) };
      const services = [0, 1].map(() =>
        spawn(process.execPath, [fileURLToPath(program)], {
          env,
          stdio: ['ignore', 'pipe', 'inherit'],
        }),
      );
      try {
        const targets = await Promise.all(services.map(firstLine));
        const question = { headers: { 'x-api-key': 'key-of-cleo' } };
        const counts = await Promise.all(
          targets.map(({ target }) => askAtOnce(target, 5, question)),
        );
        const allowed = counts.reduce((sum, count) => sum + (count[200] ?? 0), 0);
        expect(allowed).toBe(5);
      } finally {
        for (const service of services) service.kill('SIGKILL');
      }
    });
  });
}

/** Has a service decide by this Redis, on however busy a machine. */
function patient({ url }: RedisServer): { REDIS_URL: string; REDIS_DEADLINE: string } {
  return { REDIS_URL: url, REDIS_DEADLINE: '10s' };
}

/** Rejects where the program ends without printing one. */
async function firstLine(service: ChildProcess): Promise<{ target: Target; line: string }> {
  if (service.stdout === null) throw new Error('its output is not read');
  for await (const line of createInterface(service.stdout)) {
    const { hostname: host, port } = new URL(line.split(',')[0] ?? '');
    return { target: { host, port: Number(port) }, line };
  }
  throw new Error('the program ended without a word');
}
