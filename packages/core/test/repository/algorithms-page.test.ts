import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { picture } from '../../../../scripts/algorithm-picture.mjs';
import { mostWithin, runAll } from '../../../../scripts/algorithm-runs.mjs';
import { createLimiter } from '../../src/limiter/limiter.js';
import { ALGORITHMS, type Algorithm, MAX_LOG_LIMIT } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { frozenRedisStore } from '../../src/testing/frozen-redis-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { PATIENT } from '../support/patient.js';
import { keysOf, openShared } from '../support/redis.js';

const docs = new URL('../../../../docs/', import.meta.url);
const page = readFileSync(new URL('algorithms.md', docs), 'utf8');
const runs = runAll({ createLimiter, memoryStore, ManualClock }, ALGORITHMS);
const KEYS = { a: 'one' };

/** The cells behind the algorithm's name, in each table of the page that has a row for it. */
function rowsOf(algorithm: string): string[][] {
  const rows = [...page.matchAll(new RegExp(`^\\| \`${algorithm}\` +\\|(.+)\\|$`, 'gm'))];
  return rows.map(([, cells]) => (cells as string).split('|').map((cell) => cell.trim()));
}

function open(algorithm: Algorithm, limit: number) {
  const clock = new ManualClock();
  const policies = { a: { limit, window: '1s', algorithm } };
  return { clock, limiter: createLimiter({ policies, store: memoryStore({ clock }) }) };
}

/** What remains of `limit` where 3 permits were spent of 5. */
async function remainingUnder(algorithm: Algorithm, limit: number): Promise<number> {
  const { limiter } = open(algorithm, 5);
  await limiter.consume(KEYS, { cost: 3 });
  return (await limiter.peek(KEYS, { policies: { a: { limit } } })).remaining;
}

async function waitAfterSettling(algorithm: Algorithm): Promise<number | undefined> {
  const { clock, limiter } = open(algorithm, 10);
  await limiter.consume(KEYS, { cost: 8 });
  clock.advance(200);
  await limiter.settle(KEYS, { estimate: 8, cost: 15 });
  return (await limiter.consume(KEYS)).retryAfterMs;
}

async function waitAfterStepBack(algorithm: Algorithm): Promise<number | undefined> {
  const { clock, limiter } = open(algorithm, 10);
  await limiter.consume(KEYS, { cost: 10 });
  clock.advance(-3_600_000);
  return (await limiter.consume(KEYS)).retryAfterMs;
}

describe.each(ALGORITHMS)('docs/algorithms.md on %s', (algorithm) => {
  it('has its picture, as it is drawn from the sources', () => {
    expect(page).toMatch(new RegExp(`^!\\[[^\\]]+\\]\\(img/${algorithm}\\.svg\\)$`, 'm'));
    const drawn = runs.map((run) => [run.algorithm, picture(run)]);
    const committed = readFileSync(new URL(`img/${algorithm}.svg`, docs), 'utf8');
    expect(committed).toBe(Object.fromEntries(drawn)[algorithm]);
  });

  it('has the figures of its run', () => {
    const run = runs.find((one) => one.algorithm === algorithm);
    if (run === undefined) throw new Error(`no run of ${algorithm}`);
    const { calls, allowedAtMs, mostInWindow, mostInTenth } = run;
    const denial = calls.find(({ allowed }) => !allowed);
    expect(rowsOf(algorithm)[2]).toEqual([
      `${allowedAtMs.length} of ${calls.length}`,
      `${mostInWindow}`,
      `${mostInTenth}`,
      `at ${denial?.atMs} ms, told to wait ${denial?.retryAfterMs} ms`,
    ]);
  });

  it('has what a change of limit, a settlement and a step of the clock leave', async () => {
    expect(rowsOf(algorithm)[3]).toEqual([
      `${await remainingUnder(algorithm, 50)}`,
      `${await remainingUnder(algorithm, 2)}`,
      `${await waitAfterSettling(algorithm)} ms`,
      `${await waitAfterStepBack(algorithm)} ms`,
    ]);
  });
});

it('docs/algorithms.md has what a sliding window of 100 lets through at its worst', () => {
  const clock = new ManualClock(0);
  const policies = { a: { limit: 100, window: '10s', algorithm: 'sliding-window' as const } };
  const limiter = createLimiter({ policies, store: memoryStore({ clock }) });
  const askedAtMs = [...Array(100).fill(9999), ...Array.from({ length: 9999 }, (_, i) => 1e4 + i)];
  const allowedAtMs = askedAtMs.filter((ms) => {
    clock.set(ms);
    return limiter.tryConsume(KEYS)?.allowed;
  });
  const most = mostWithin(allowedAtMs, 10_000);
  expect(page).toContain(`gets ${most} calls of a limit of 100\nthrough within 10 s`);
});

describe('docs/algorithms.md on bytes', () => {
  let redis: Awaited<ReturnType<typeof openShared>>;
  beforeAll(async () => {
    redis = await openShared();
  });
  afterAll(() => redis.close());

  /** Bytes of the value in Redis after so many calls. */
  async function bytesAfter(algorithm: Algorithm, calls: number): Promise<number> {
    const policies = { [algorithm]: { limit: 100, window: '1h', algorithm } };
    const limiter = createLimiter({ policies, store: redis.store, fallback: PATIENT });
    const name = { [algorithm]: `after-${calls}` };
    for (let i = 0; i < calls; i++) await limiter.consume(name);
    await limiter.close();
    const keys = await keysOf(redis.client, redis.prefix);
    const key = keys.find((one) => one.includes(`{after-${calls}}:${algorithm}:`));
    return redis.client.strlen(key as string);
  }

  it.each(ALGORITHMS)('%s: the value in Redis is as long as the page says', async (algorithm) => {
    const [one, three] = [await bytesAfter(algorithm, 1), await bytesAfter(algorithm, 3)];
    const isLog = algorithm === 'sliding-log';
    const said = isLog ? '16 bytes, and 16 for each call (see below)' : `${one} bytes`;
    expect(rowsOf(algorithm)[0]?.[1]).toBe(said);
    expect([one, three]).toEqual(isLog ? [16 + 16, 16 + 3 * 16] : [one, one]);
  });

  it('sliding-log: the longest value of a limit of 100 is as long as the page says', async () => {
    const clock = new ManualClock();
    const store = frozenRedisStore(redis.client, clock, { prefix: redis.prefix });
    const policies = { steady: { limit: 100, window: '1h', algorithm: 'sliding-log' as const } };
    const limiter = createLimiter({ policies, store, fallback: PATIENT });
    let longest = 0;
    for (let i = 0; i < 500; i++) {
      expect((await limiter.consume({ steady: 'one' })).allowed).toBe(true);
      clock.advance(36_000);
      const bytes = await redis.client.strlen(`${redis.prefix}:{one}:steady:sl1`);
      longest = Math.max(longest, bytes);
    }
    await limiter.close();
    expect(page).toContain(`it grew to ${longest} bytes, ${(longest - 16) / 16} entries`);
  });

  it('names the largest limit of a sliding log', () => {
    expect(page).toContain(`Limits above\n${MAX_LOG_LIMIT.toLocaleString('en')} are refused`);
  });
});
