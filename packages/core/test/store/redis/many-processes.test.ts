import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALGORITHMS } from '../../../src/policy/policy.js';
import { LEASED } from '../../../src/testing/contract/holder.js';
import { PLAIN_BYTES, readLeased } from '../../support/leased-value.js';
import { keysOf, openShared } from '../../support/redis.js';
import { ToldProcesses } from '../../support/told-processes.js';

const HOUR = 3_600_000;

/** Checks of as many keys in turn, under one policy. */
interface Job {
  readonly prefix: string;
  readonly algorithm: string;
  readonly limit: number;
  /** In milliseconds. */
  readonly window: number;
  readonly checks: number;
  readonly parallel: number;
  readonly keys: number;
  /** Of leases, in milliseconds. Not leased by default. */
  readonly ttl?: number;
}

let shared: Awaited<ReturnType<typeof openShared>>;
let processes: ToldProcesses<Job, { allowed: number }>;
beforeAll(async () => {
  shared = await openShared();
  processes = await ToldProcesses.start(4, 'consume-at-once.mjs', [shared.url]);
});
afterAll(async () => {
  await processes.end();
  await shared.close();
});

/** The same job by each of four processes at once; how many checks they were allowed together. */
async function allowedOf(job: Job): Promise<number> {
  const answers = await processes.tellAll(job);
  return answers.reduce((sum, { allowed }) => sum + allowed, 0);
}

/** 250 checks by each process, all of them under way at once, on one key. */
const ONE_KEY = { window: HOUR, checks: 250, parallel: 250, keys: 1 };

/** 500 checks by each process: by all together, 20 of each of 100 keys. */
const MANY_KEYS = { window: 10_000, checks: 500, parallel: 20, keys: 100 };

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it('4 processes × 250 checks at once on one key, limit 100: exactly 100 admitted', async () => {
    const prefix = `${shared.prefix}exact-${algorithm}`;
    expect(await allowedOf({ prefix, algorithm, limit: 100, ...ONE_KEY })).toBe(100);
  });

  it('S-11 every key has an expiry, at most two windows away', async () => {
    const prefix = `${shared.prefix}expiry-${algorithm}`;
    expect(await allowedOf({ prefix, algorithm, limit: 20, ...MANY_KEYS })).toBe(2000);
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
    // 400 of each of 25 keys, of which no process can hold so many that one of them is denied.
    const job = { ...MANY_KEYS, limit: 1000, checks: 2500, keys: 25, ttl: 2000 };
    expect(await allowedOf({ prefix, algorithm, ...job })).toBe(10_000);
    const keys = await keysOf(shared.client, prefix);
    const left = await Promise.all(keys.map((key) => shared.client.pttl(key)));
    expect(left.filter((ms) => ms !== -2 && !(ms > 0 && ms <= 20_000 + 2 * job.ttl))).toEqual([]);
    const values = await Promise.all(keys.map((key) => shared.client.getBuffer(key)));
    const leased = values.filter((value) => readLeased(value, PLAIN_BYTES[algorithm]));
    expect(leased.length).toBeGreaterThan(0);
  },
);

it('S-10 the same with a limit of 5: exactly 5', async () => {
  const prefix = `${shared.prefix}five`;
  const job = { prefix, algorithm: 'token-bucket', limit: 5, ...ONE_KEY };
  expect(await allowedOf(job)).toBe(5);
});
