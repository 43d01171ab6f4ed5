import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ASK_EVERY_MS, watchReplicas } from '../../../src/fallback/replica-count.js';
import type { RedisClient } from '../../../src/store/redis/client.js';
import { Heartbeat } from '../../../src/store/redis/heartbeat.js';
import { redisStore } from '../../../src/store/redis/redis-store.js';
import { heartbeat } from '../../../src/store/redis/scripts.generated.js';
import { frozenRedisStore } from '../../../src/testing/frozen-redis-store.js';
import { ManualClock } from '../../../src/testing/manual-clock.js';
import { commandCalls, openShared, useOwn } from '../../support/redis.js';

const LIFE_MS = 10_000;
const own = useOwn();
let shared: Awaited<ReturnType<typeof openShared>>;
beforeAll(async () => {
  shared = await openShared();
});
afterAll(() => shared.close());
afterEach(() => {
  vi.useRealTimers();
});

let opened = 0;
/** Stores of as many replicas, on a prefix that nobody else uses. */
function openReplicas(...ids: string[]) {
  const prefix = `${shared.prefix}${++opened}`;
  const stores = ids.map((replicaId) => redisStore(shared.client, { prefix, replicaId }));
  return { prefix, key: `${prefix}:replicas`, stores };
}

/** As `openReplicas`, on a clock of their own. */
function openFrozen(...ids: string[]) {
  const clock = new ManualClock();
  const prefix = `${shared.prefix}${++opened}`;
  const stores = ids.map((replicaId) =>
    frozenRedisStore(shared.client, clock, { prefix, replicaId }),
  );
  return { clock, key: `${prefix}:replicas`, stores };
}

async function inTurn(stores: readonly { heartbeat(): Promise<number> }[]): Promise<number[]> {
  const counts: number[] = [];
  for (const store of stores) counts.push(await store.heartbeat());
  return counts;
}

describe('replicas', () => {
  it('are counted by their ids, each once', async () => {
    const { stores, key } = openReplicas('a', 'b', 'c', 'b');
    expect(await inTurn(stores)).toEqual([1, 2, 3, 3]);
    expect(await inTurn(stores)).toEqual([3, 3, 3, 3]);
    expect((await shared.client.zrange(key, 0, '-1')).sort()).toEqual(['a', 'b', 'c']);
  });

  it('have a count for each prefix', async () => {
    expect(await inTurn(openReplicas('a', 'b').stores)).toEqual([1, 2]);
    expect(await inTurn(openReplicas('c').stores)).toEqual([1]);
  });

  it('are one where the stores of a process have no ids, also those of another copy of this library', async () => {
    vi.resetModules();
    const copy = await import('../../../src/store/redis/redis-store.js');
    expect(copy.redisStore).not.toBe(redisStore);
    const { prefix, key } = openReplicas();
    const stores = [redisStore, redisStore, copy.redisStore].map((make) =>
      make(shared.client, { prefix }),
    );
    expect(await inTurn(stores)).toEqual([1, 1, 1]);
    expect(await shared.client.zrange(key, 0, '-1')).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
    ]);
  });

  it('are counted for a client that gives texts', async () => {
    const client = new Redis(shared.url, { stringNumbers: true });
    const store = redisStore(client, { prefix: openReplicas().prefix });
    expect(await store.heartbeat()).toBe(1);
    await client.quit();
  });
});

describe('a replica that says nothing', () => {
  it('is forgotten 10 s after its last heartbeat, by the clock of the server', async () => {
    const { clock, stores } = openFrozen('a', 'b');
    const [a, b] = stores as [(typeof stores)[0], (typeof stores)[0]];
    expect(await inTurn(stores)).toEqual([1, 2]);
    clock.advance(LIFE_MS - 1);
    expect(await b.heartbeat()).toBe(2);
    clock.advance(1);
    expect(await b.heartbeat()).toBe(1);
    expect(await a.heartbeat()).toBe(2);
  });

  it('leaves no key behind when it was the last', async () => {
    const { key, stores } = openReplicas('a');
    await stores[0]?.heartbeat();
    expect(await shared.client.pttl(key)).toBeGreaterThan(0);
    expect(await shared.client.pttl(key)).toBeLessThanOrEqual(LIFE_MS);
    const brief = new Heartbeat(
      (id, lifeMs) => shared.client.eval(heartbeat.text, 1, key, id, lifeMs),
      'a',
      50,
    );
    expect(await brief.beat()).toBe(1);
    await expect.poll(() => shared.client.exists(key), { interval: 10 }).toBe(0);
  });

  it('is not remembered for longer because the clock of the server stepped back', async () => {
    const { clock, stores } = openFrozen('a', 'b', 'gone');
    const [a, b] = stores as [(typeof stores)[0], (typeof stores)[0]];
    expect(await inTurn(stores)).toEqual([1, 2, 3]);
    clock.advance(-3_600_000);
    expect(await inTurn([a, b])).toEqual([3, 3]);
    clock.advance(LIFE_MS - 1);
    expect(await inTurn([a, b])).toEqual([3, 3]);
    clock.advance(1);
    expect(await inTurn([a, b])).toEqual([2, 2]);
  });
});

describe('a server', () => {
  it('that was restarted empty hears of all again, and nobody believes the fall', async () => {
    const ids = ['a', 'b', 'c'];
    const stores = ids.map((replicaId) => redisStore(own.client, { replicaId }));
    await inTurn(stores);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const answers: Promise<number>[] = [];
    const counts: number[] = [];
    const watch = watchReplicas({
      source: () => {
        const answer = stores[0]?.heartbeat() as Promise<number>;
        answers.push(answer);
        return answer;
      },
      isHeartbeat: true,
      onCount: (count) => counts.push(count),
      onFailure: () => {},
    });
    expect(await answers.at(-1)).toBe(3);
    // While it restarts, its client is refused: nothing else is to be said of that.
    own.client.on('error', () => {});
    await own.server.restart();
    await own.client.ping();
    await vi.advanceTimersByTimeAsync(ASK_EVERY_MS);
    expect(await answers.at(-1)).toBe(1);
    expect(await inTurn(stores.slice(1))).toEqual([2, 3]);
    await vi.advanceTimersByTimeAsync(ASK_EVERY_MS);
    expect(await answers.at(-1)).toBe(3);
    expect(counts).toEqual([3]);
    watch.stop();
  });

  it('runs seven commands for a heartbeat', async () => {
    const store = redisStore(own.client);
    await store.heartbeat();
    await own.client.config('RESETSTAT');
    await store.heartbeat();
    const { info, 'config|resetstat': reset, ...calls } = await commandCalls(own.client);
    expect(calls).toEqual({
      evalsha: 1,
      time: 1,
      zremrangebyscore: 1,
      zrangebyscore: 1,
      zadd: 1,
      pexpire: 1,
      zcard: 1,
    });
  });

  it('knows the script by its digest', async () => {
    expect(createHash('sha1').update(heartbeat.text).digest('hex')).toBe(heartbeat.sha1);
    expect(await own.client.script('LOAD', heartbeat.text)).toBe(heartbeat.sha1);
  });

  it('that refuses a command fails the heartbeat, and keeps what it has', async () => {
    await redisStore(own.client).heartbeat();
    const rules = ['on', 'nopass', '~*', '+@all', '-zremrangebyscore'];
    await own.client.acl('SETUSER', 'hampered', ...rules);
    const client = new Redis({ ...own.server.connection, username: 'hampered', password: 'any' });
    const error = await redisStore(client)
      .heartbeat()
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'RL_STORE_FAILED', fault: 'permission' });
    expect(String(error)).toContain('the store could not count the replicas: ');
    expect(await own.client.zcard('rl:replicas')).toBe(1);
    client.disconnect();
  });

  it.each([
    ['text', (key: string) => own.client.set(key, 'a')],
    ['hash', (key: string) => own.client.hset(key, 'a', '1')],
    ['list', (key: string) => own.client.rpush(key, 'a')],
  ])('that has a %s at our key is given ours', async (_, write) => {
    await write('rl:replicas');
    const store = redisStore(own.client);
    expect(await store.heartbeat()).toBe(1);
    expect(await own.client.type('rl:replicas')).toBe('zset');
    expect(await own.client.pttl('rl:replicas')).toBeGreaterThan(0);
    await write('other');
    await own.client.rename('other', 'rl:replicas');
    await store.close();
    expect(await own.client.type('rl:replicas')).not.toBe('zset');
  });
});

describe('closing', () => {
  it('leaves', async () => {
    const { key, stores } = openReplicas('a', 'b');
    await inTurn(stores);
    await stores[0]?.close();
    expect(await stores[1]?.heartbeat()).toBe(1);
    await stores[1]?.close();
    expect(await shared.client.exists(key)).toBe(0);
  });

  it('leaves behind a heartbeat that is under way', async () => {
    const { key, stores } = openReplicas('a');
    const count = stores[0]?.heartbeat();
    await stores[0]?.close();
    expect(await count).toBe(1);
    expect(await shared.client.exists(key)).toBe(0);
  });

  it('refuses heartbeats', async () => {
    const { key, stores } = openReplicas('a');
    await stores[0]?.close();
    await expect(stores[0]?.heartbeat()).rejects.toMatchObject({ code: 'RL_CLOSED' });
    expect(await shared.client.exists(key)).toBe(0);
  });

  it('sends nothing where there was no heartbeat', async () => {
    const { client, calls } = spy(async () => [1]);
    await redisStore(client).close();
    expect(calls).toEqual([]);
  });

  it('sends nothing where the last heartbeat was not answered', async () => {
    const { client, calls } = spy(() => Promise.reject(new Error('down')));
    const store = redisStore(client);
    await expect(store.heartbeat()).rejects.toMatchObject({
      code: 'RL_STORE_FAILED',
      message: 'the store could not count the replicas: down',
    });
    await store.close();
    expect(calls).toHaveLength(1);
  });

  it('rejects never', async () => {
    const replies = [Promise.resolve([1]), Promise.reject(new Error('down'))];
    const replica = new Heartbeat(() => replies.shift() as Promise<unknown>, 'a');
    await replica.beat();
    await expect(replica.leave()).resolves.toBeUndefined();
    expect(replies).toEqual([]);
  });

  it('gets over a server that refuses, and one that no longer answers', async () => {
    for (const answer of [Promise.reject(new Error('down')), new Promise(() => {})]) {
      const { client, calls } = spy(() => (calls.length === 1 ? Promise.resolve([1]) : answer));
      const store = redisStore(client);
      expect(await store.heartbeat()).toBe(1);
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const closing = store.close();
      await vi.advanceTimersByTimeAsync(1000);
      await closing;
      vi.useRealTimers();
      expect(calls).toEqual([
        [expect.any(String), LIFE_MS],
        [expect.any(String), 0],
      ]);
    }
  });
});

describe('a wrong answer', () => {
  it.each([
    ['no array', 1],
    ['nothing', []],
    ['two numbers', [1, 2]],
    ['a text', ['OK']],
  ])('of %s fails the heartbeat', async (_, reply) => {
    const { client } = spy(async () => reply);
    await expect(redisStore(client).heartbeat()).rejects.toThrow(
      "the store could not count the replicas: the script's reply is",
    );
  });
});

describe('a bad replicaId is refused', () => {
  const expected = 'replicaId must be 1 to 64 letters, digits, "_", ".", ":" or "-"';
  it.each([
    ['', 'got ""'],
    ['a b', 'got "a b"'],
    ['ä', 'got "ä"'],
    ['x'.repeat(65), 'got "xxx'],
    [7, 'got 7'],
  ])('%j', (replicaId, message) => {
    const make = () => redisStore(shared.client, { replicaId: replicaId as string });
    expect(make).toThrow(expected);
    expect(make).toThrow(message);
  });
});

/** What a client looks like, with an answer of one's own; notes the arguments of each call. */
function spy(answer: () => Promise<unknown>): { client: RedisClient; calls: unknown[][] } {
  const calls: unknown[][] = [];
  const call: RedisClient['evalsha'] = (_script, _keyCount, _key, ...args) => {
    calls.push(args);
    return answer();
  };
  return { calls, client: { eval: call, evalsha: call } };
}

it('one without an answer is not followed by another: a silent server fills no queue', async () => {
  let sent = 0;
  const answers: ((reply: unknown) => void)[] = [];
  const heartbeat = new Heartbeat(() => {
    sent++;
    return new Promise((resolve) => answers.push(resolve));
  }, 'r');
  const beats = Array.from({ length: 1000 }, () => heartbeat.beat());
  expect(sent).toBe(1);
  answers[0]?.([3]);
  expect(new Set(await Promise.all(beats))).toEqual(new Set([3]));
  void heartbeat.beat();
  expect(sent).toBe(2);
});
