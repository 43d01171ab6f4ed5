import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { afterEach, describe, expect, it } from 'vitest';
import { encodePartitionKey } from '../../../src/key/partition-key.js';
import { type Policy, parsePolicy } from '../../../src/policy/policy.js';
import type { RedisClient } from '../../../src/store/redis/client.js';
import { redisStore } from '../../../src/store/redis/redis-store.js';
import { slotOf } from '../../../src/store/redis/slot.js';
import { openShared } from '../../support/redis.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const POLICY: Policy = parsePolicy('p', { limit: 10, window: '1h' }, '');
const never = () => new Promise(() => {});

/** A Cluster's client whose table of slots a test fills. */
function clusterOf(slots: string[][], others: Partial<RedisClient> = {}): RedisClient {
  return { isCluster: true, slots, evalsha: never, eval: never, ...others };
}

describe('the place of a partition key', () => {
  it('is the primary of its slot, as its client has it at the time', () => {
    const slots: string[][] = [];
    const { placeOf } = redisStore(clusterOf(slots));
    expect(placeOf?.('a')).toBe('no node');
    slots[slotOf('a')] = ['10.0.0.1:6379', '10.0.0.2:6379'];
    slots[slotOf('b')] = ['10.0.0.3:6379'];
    expect(placeOf?.('a')).toBe('10.0.0.1:6379');
    expect(placeOf?.('b')).toBe('10.0.0.3:6379');
    slots[slotOf('a')] = ['10.0.0.2:6379'];
    expect(placeOf?.('a')).toBe('10.0.0.2:6379');
    slots[slotOf('a')] = [];
    expect(placeOf?.('a')).toBe('no node');
  });

  it('goes by the key as it is stored', () => {
    const slots: string[][] = [];
    const { placeOf } = redisStore(clusterOf(slots));
    for (const key of ['é', '{a}b', 'x'.repeat(1000)]) {
      slots[slotOf(encodePartitionKey(key))] = [key];
      expect(placeOf?.(key)).toBe(key);
    }
  });

  it.each([
    ['no Cluster', { evalsha: never, eval: never, slots: [] }],
    ['a Cluster that shows no table', { isCluster: true, evalsha: never, eval: never }],
  ])('is not told where the client is %s: the store is one', (_, client) => {
    expect(redisStore(client as RedisClient).placeOf).toBeUndefined();
  });

  it.each([
    ['6', Cluster],
    ['5', Cluster5],
  ])('is told of a Cluster of ioredis %s', (_, AnyCluster) => {
    const client = new AnyCluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true });
    const { placeOf } = redisStore(client as RedisClient);
    client.slots[slotOf('a')] = ['10.0.0.1:6379'];
    expect(placeOf?.('a')).toBe('10.0.0.1:6379');
    client.disconnect();
  });
});

describe('a call at several places', () => {
  it.each(['a', 'b'])('fails with the place that failed, which is that of %s', async (failing) => {
    const shared = await openShared();
    closing.push(shared.close);
    const slots: string[][] = [];
    for (const key of ['a', 'b']) slots[slotOf(key)] = [`node-of-${key}`];
    const ask = (what: 'eval' | 'evalsha'): RedisClient['eval'] => {
      return async (text, count, ...args) => {
        if (`${args[0]}`.includes(`{${failing}}`)) throw new Error('CLUSTERDOWN');
        return shared.client[what](text, count, ...args);
      };
    };
    const client = clusterOf(slots, { eval: ask('eval'), evalsha: ask('evalsha') });
    const store = redisStore(client, { prefix: shared.prefix });
    const charges = ['a', 'b'].map((key) => ({ policy: POLICY, key, cost: 1 }));
    const place = `node-of-${failing}`;
    await expect(store.consumeAll(charges)).rejects.toMatchObject({ fault: 'unavailable', place });
    await store.close();
  });
});
