import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALGORITHMS } from '../../../src/policy/policy.js';
import { LEASED } from '../../../src/testing/contract/holder.js';
import { PLAIN_BYTES, readLeased } from '../../support/leased-value.js';
import { keysOf, openShared } from '../../support/redis.js';
import { runFixture } from '../../support/run-fixture.js';

const HOUR = 3_600_000;
let shared: Awaited<ReturnType<typeof openShared>>;
beforeAll(async () => {
  shared = await openShared();
});
afterAll(() => shared.close());

/** Four processes at once, each with `checks` checks; how many they were allowed together. */
async function allowedOf(prefix: string, algorithm: string, ...numbers: number[]): Promise<number> {
  const args = [shared.url, prefix, algorithm, ...numbers];
  const runs = Array.from({ length: 4 }, () =>
    runFixture<{ allowed: number }>('consume-at-once.mjs', args),
  );
  return (await Promise.all(runs)).reduce((sum, { allowed }) => sum + allowed, 0);
}

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it('4 processes × 250 checks at once on one key, limit 100: exactly 100 admitted', async () => {
    const prefix = `${shared.prefix}exact-${algorithm}`;
    expect(await allowedOf(prefix, algorithm, 100, HOUR, 250, 250, 1)).toBe(100);
  });

  it('S-11 every key has an expiry, at most two windows away', async () => {
    const prefix = `${shared.prefix}expiry-${algorithm}`;
    // 20 checks a key.
    expect(await allowedOf(prefix, algorithm, 20, 10_000, 2500, 20, 500)).toBe(10_000);
    const keys = await keysOf(shared.client, prefix);
    const left = await Promise.all(keys.map((key) => shared.client.pttl(key)));
    // -2 is a key that has just expired.
    expect(left.filter((ms) => ms !== -2 && !(ms > 0 && ms <= 20_000))).toEqual([]);
    expect(left.filter((ms) => ms > 0).length).toBeGreaterThan(0);
  });
});

it.each(LEASED)(
  'S-11 the same where %s is leased: also what is out has its end',
  async (algorithm) => {
    const prefix = `${shared.prefix}leased-${algorithm}`;
    // 400 checks a key, of which no process can hold so many that one of them is denied.
    const ttl = 2000;
    expect(await allowedOf(prefix, algorithm, 1000, 10_000, 2500, 20, 25, ttl)).toBe(10_000);
    const keys = await keysOf(shared.client, prefix);
    const left = await Promise.all(keys.map((key) => shared.client.pttl(key)));
    expect(left.filter((ms) => ms !== -2 && !(ms > 0 && ms <= 20_000 + 2 * ttl))).toEqual([]);
    const values = await Promise.all(keys.map((key) => shared.client.getBuffer(key)));
    const leased = values.filter((value) => readLeased(value, PLAIN_BYTES[algorithm]));
    expect(leased.length).toBeGreaterThan(0);
  },
);

it('S-10 the same with a limit of 5: exactly 5', async () => {
  expect(await allowedOf(`${shared.prefix}five`, 'token-bucket', 5, HOUR, 250, 250, 1)).toBe(5);
});
