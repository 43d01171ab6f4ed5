import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { freePort } from '../src/free-port.js';
import { prepareSharedRedis } from '../src/global-setup.js';
import { randomPrefix, sharedRedis } from '../src/index.js';

/** An environment in which programs are found, and no Redis is named. */
function environment(more: Record<string, string> = {}): Record<string, string | undefined> {
  return { PATH: process.env.PATH, ...more };
}

describe('sharedRedis', () => {
  test('answers, and is the same server for everybody who asks', async () => {
    const [one, two] = await Promise.all([sharedRedis(), sharedRedis()]);
    const writer = new Redis(one.connection);
    const reader = new Redis(two.url);
    const key = `${randomPrefix()}shared`;
    await writer.set(key, 'yes', 'PX', 60_000);
    expect(await reader.get(key)).toBe('yes');
    writer.disconnect();
    reader.disconnect();
  });

  test('RL_TEST_REDIS_URL goes before REDIS_URL', async () => {
    const env = { RL_TEST_REDIS_URL: 'redis://run:1', REDIS_URL: 'redis://user:2' };
    expect((await sharedRedis(env)).url).toBe('redis://run:1');
    expect((await sharedRedis({ ...env, RL_TEST_REDIS_URL: '' })).url).toBe('redis://user:2');
  });

  test('with neither, this process starts one and keeps it', async () => {
    const one = await sharedRedis({});
    expect(await sharedRedis({})).toBe(one);
    const redis = new Redis(one.connection);
    expect(await redis.ping()).toBe('PONG');
    redis.disconnect();
  });
});

describe('the global setup', () => {
  test('starts a server, names it in the environment, and undoes both', async () => {
    const env = environment();
    const undo = await prepareSharedRedis(env);
    const { url, connection } = await sharedRedis(env);
    expect(url).toBe(env.RL_TEST_REDIS_URL);
    const redis = new Redis({ ...connection, retryStrategy: () => null });
    expect(await redis.ping()).toBe('PONG');
    const ended = new Promise((resolve) => redis.once('end', resolve));
    await undo();
    await ended;
    expect(env.RL_TEST_REDIS_URL).toBeUndefined();
  });

  test('uses REDIS_URL as it is and leaves that server alone', async () => {
    const { url } = await sharedRedis();
    const env = environment({ REDIS_URL: url });
    const undo = await prepareSharedRedis(env);
    expect(env.RL_TEST_REDIS_URL).toBe(url);
    await undo();
    const redis = new Redis(url);
    expect(await redis.ping()).toBe('PONG');
    redis.disconnect();
  });

  test('a REDIS_URL that does not answer ends the run, without showing its password', async () => {
    const url = `redis://:secret@127.0.0.1:${await freePort()}`;
    const failure = prepareSharedRedis(environment({ REDIS_URL: url }));
    await expect(failure).rejects.toThrow(/^REDIS_URL=redis:\/\/:\*\*\*@127.* does not answer: /);
  });

  test('no Redis at all ends the run, saying how to get one', async () => {
    const nothing = { which: async () => undefined, dockerAnswers: async () => false };
    await expect(prepareSharedRedis({}, nothing)).rejects.toThrow('apt-get install redis-server');
  });
});
