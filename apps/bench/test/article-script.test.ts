import { randomPrefix, sharedRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { ARTICLE_SCRIPT } from '../src/scenarios/article-script.js';

test('the script of the articles limits: it spends what is there, and no more', async () => {
  const client = new Redis((await sharedRedis()).url);
  const key = randomPrefix();
  // One permit in 1000 s: none comes back meanwhile.
  const ask = (cost: number) => client.eval(ARTICLE_SCRIPT, 1, key, 3, 0.001, cost);
  try {
    expect(await ask(1)).toEqual([1, 2, 0]);
    expect(await client.hkeys(key)).toEqual(['tokens', 'ts']);
    expect(await client.pttl(key)).toBeLessThanOrEqual(1_000_000);
    expect(await ask(2)).toEqual([1, 0, 0]);
    const [allowed, left, waitMs] = (await ask(1)) as [number, number, number];
    expect([allowed, left]).toEqual([0, 0]);
    expect(waitMs).toBeGreaterThan(900_000);
    expect(waitMs).toBeLessThanOrEqual(1_000_000);
  } finally {
    await client.del(key);
    client.disconnect();
  }
});
