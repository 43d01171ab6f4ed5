import { readFileSync } from 'node:fs';
import { type FaultProxy, startFaultProxy } from '@rl/testkit';
import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parsePolicy } from '../../../src/policy/policy.js';
import { redisStore } from '../../../src/store/redis/redis-store.js';
import { useOwn } from '../../support/redis.js';

const HOURLY = parsePolicy('hourly', { limit: 100, window: '1h' }, '');
const page = readFileSync(new URL('../../../../../docs/stores.md', import.meta.url), 'utf8');
const text = /^const client = new Redis\(([\s\S]*?)\);$/m.exec(page)?.[1];
type Options = Omit<RedisOptions, 'replyMapping'>;
/** Those that docs/stores.md has. */
const OPTIONS: Options = new Function(`return ${text}`)();

const own = useOwn();
let proxy: FaultProxy;
let client: Redis | undefined;
beforeEach(async () => {
  proxy = await startFaultProxy(own.server);
});
afterEach(async () => {
  client?.disconnect();
  await proxy.close();
});

describe.each([
  ['5', Redis5 as unknown as typeof Redis],
  ['6', Redis],
])('the options of docs/stores.md, with ioredis %s', (_, Client) => {
  async function open(options: Options) {
    const opened = new Client({ ...options, ...proxy.connection }).on('error', () => {});
    client = opened;
    const store = redisStore(opened);
    await store.consume(HOURLY, 'k', 1);
    await store.consume(HOURLY, 'k', 1);
    const loseReply = () => proxy.cutBeforeReply((request) => request.includes('evalsha'));
    const left = async () => {
      await expect.poll(() => opened.status).toBe('ready');
      return (await store.consume(HOURLY, 'k', 0)).remaining;
    };
    return { client: opened, store, loseReply, left };
  }

  it('a call whose reply was lost fails at once, and is charged once', async () => {
    const { store, loseReply, left } = await open(OPTIONS);
    const lost = loseReply();
    await expect(store.consume(HOURLY, 'k', 1)).rejects.toMatchObject({ fault: 'connection' });
    await lost;
    expect(await left()).toBe(97);
  });

  it('which by the defaults of ioredis is charged twice', async () => {
    const { store, loseReply, left } = await open({ retryStrategy: () => 10 });
    const lost = loseReply();
    expect(await store.consume(HOURLY, 'k', 1)).toMatchObject({ remaining: 96 });
    await lost;
    expect(await left()).toBe(96);
  });

  it('a server that falls silent is given up, and found again', async () => {
    const { client, store, left } = await open(OPTIONS);
    proxy.blackhole();
    await expect(store.consume(HOURLY, 'k', 1)).rejects.toMatchObject({ fault: 'connection' });
    expect(client.status).not.toBe('ready');
    proxy.heal();
    await expect.poll(() => client.status, { timeout: 10_000 }).toBe('ready');
    expect(await left()).toBe(98);
  });
});
