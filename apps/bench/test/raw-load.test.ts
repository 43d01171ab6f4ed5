import { randomPrefix, sharedRedis } from '@rl/testkit';
import { expect, test } from 'vitest';
import { pipelinesOf, RawLoad } from '../src/raw-load.js';
import { openRedis } from '../src/redis-under-test.js';
import { encodeCommand } from '../src/resp.js';

const INCREMENT = "return {redis.call('INCR', KEYS[1])}";

test('pipelines take the commands in turn and end where they do', () => {
  const commands = ['a', 'b', 'c'].map((letter) => Buffer.from(letter));
  expect(pipelinesOf(commands, 2).map(String)).toEqual(['ab', 'ca', 'bc']);
  expect(pipelinesOf(commands, 3).map(String)).toEqual(['abc']);
});

test('what is counted is what the server did, in every run of a connection', async () => {
  const redis = await openRedis((await sharedRedis()).url);
  const client = await redis.connect();
  const stream = await redis.connectRaw();
  const key = randomPrefix();
  try {
    const command = encodeCommand(['EVAL', INCREMENT, 1, key]);
    const load = new RawLoad(stream, pipelinesOf([command], 4), 4, 0);
    const first = await load.run(0);
    expect(first).toBe(4);
    const second = await load.run(5);
    expect(second % 4).toBe(0);
    expect(await client.get(key)).toBe(String(first + second));
  } finally {
    await client.del(key);
    stream.destroy();
    client.disconnect();
    await redis.close();
  }
});

test('an error or an end of the connection fails the run', async () => {
  const redis = await openRedis((await sharedRedis()).url);
  const streams = [await redis.connectRaw(), await redis.connectRaw()] as const;
  try {
    const command = encodeCommand(['EVALSHA', '0'.repeat(40), 0]);
    await expect(new RawLoad(streams[0], [command], 1, 0).run(0)).rejects.toThrow('NOSCRIPT');
    const run = new RawLoad(streams[1], [encodeCommand(['PING'])], 1, 0).run(0);
    streams[1].destroy();
    await expect(run).rejects.toThrow('Redis closed the connection');
  } finally {
    for (const stream of streams) stream.destroy();
    await redis.close();
  }
});
