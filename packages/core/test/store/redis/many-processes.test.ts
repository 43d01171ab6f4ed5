import { afterAll, beforeAll, expect, it } from 'vitest';
import { keysOf, openShared } from '../../support/redis.js';
import { runFixture } from '../../support/run-fixture.js';

const HOUR = 3_600_000;
let shared: Awaited<ReturnType<typeof openShared>>;
beforeAll(async () => {
  shared = await openShared();
});
afterAll(() => shared.close());

/** Four processes at once, each with `checks` checks; how many they were allowed together. */
async function allowedOf(prefix: string, ...numbers: number[]): Promise<number> {
  const runs = Array.from({ length: 4 }, () =>
    runFixture<{ allowed: number }>('consume-at-once.mjs', [shared.url, prefix, ...numbers]),
  );
  return (await Promise.all(runs)).reduce((sum, { allowed }) => sum + allowed, 0);
}

it('4 processes × 250 checks at once on one key, limit 100: exactly 100 admitted', async () => {
  expect(await allowedOf(`${shared.prefix}exact`, 100, HOUR, 250, 250, 1)).toBe(100);
});

it('S-10 the same with a limit of 5: exactly 5', async () => {
  expect(await allowedOf(`${shared.prefix}five`, 5, HOUR, 250, 250, 1)).toBe(5);
});

it('S-11 10,000 checks by 4 processes: every key has an expiry, at most the window away', async () => {
  const prefix = `${shared.prefix}expiry`;
  expect(await allowedOf(prefix, 1_000_000, 10_000, 2500, 20, 500)).toBe(10_000);
  expect(await allowedOf(prefix, 3, 10_000, 2500, 20, 500)).toBeLessThan(10_000);
  const keys = await keysOf(shared.client, prefix);
  const left = await Promise.all(keys.map((key) => shared.client.pttl(key)));
  // -2 is a key that has just expired.
  expect(left.filter((ms) => ms !== -2 && !(ms > 0 && ms <= 10_000))).toEqual([]);
  expect(left.filter((ms) => ms > 0).length).toBeGreaterThan(0);
});
