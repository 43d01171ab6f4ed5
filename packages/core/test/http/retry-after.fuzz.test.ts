import { randomPrefix, sharedRedis } from '@rl/testkit';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { parseList } from 'structured-headers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Gate, type Verdict } from '../../src/http/gate.js';
import { createLimiter } from '../../src/limiter/limiter.js';
import { ALGORITHMS, type Algorithm, type PolicyOptions } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { frozenRedisStore } from '../../src/testing/frozen-redis-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { policies } from '../support/histories.js';
import { PATIENT } from '../support/patient.js';
import { readerOf, seen } from './gates.js';

/** A client that asks until it is denied. */
interface Client {
  readonly policies: readonly PolicyOptions[];
  /** Of its requests, in turn: time between them, and what each costs as a part of the bursts. */
  readonly requests: readonly { readonly afterMs: number; readonly parts: readonly number[] }[];
}

const clientsOf = (algorithm: Algorithm): fc.Arbitrary<Client> => {
  const own = usable(fc.constant(algorithm));
  const other = usable(fc.constantFrom(...ALGORITHMS));
  const part = fc.oneof(
    { weight: 20, arbitrary: fc.double({ min: 0.05, max: 1, noNaN: true }) },
    { weight: 1, arbitrary: fc.double({ min: 1, max: 1.2, noNaN: true }) },
  );
  return fc.record({
    policies: fc.oneof(fc.tuple(own), fc.tuple(own, other)),
    requests: fc.array(
      fc.record({
        afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5000 })),
        parts: fc.tuple(part, part),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  });
};

/** Policies that fill within what a clock can count. */
function usable(algorithm: fc.Arbitrary<Algorithm>) {
  return policies('p', algorithm)
    .filter(({ limit, windowMs, burst }) => limit === 0 || (burst / limit) * windowMs < 2 ** 50)
    .map((policy) => {
      const { limit, windowMs: window, burst } = policy;
      const hasBurst = limit > 0 && burst !== limit;
      return { algorithm: policy.algorithm, limit, window, burst: hasBurst ? burst : undefined };
    });
}

/** What becomes of the first denial of a client; undefined where it was never denied. */
async function outcomeOf(
  client: Client,
  store: Store,
  clock: ManualClock,
): Promise<'admitted' | 'never' | undefined> {
  const named = client.policies.map((policy, i) => [`p${i}`, policy] as const);
  const limiter = createLimiter({ store, fallback: PATIENT, policies: Object.fromEntries(named) });
  const keys = Object.fromEntries(named.map(([name]) => [name, 'ann']));
  const gate = new Gate<{ readonly parts: readonly number[] }>(
    {
      limiter,
      keys: () => keys,
      cost: ({ parts }) =>
        Object.fromEntries(
          named.map(([name, { limit, burst = limit }], i) => [
            name,
            Math.max(1, Math.ceil((parts[i] as number) * burst)),
          ]),
        ),
    },
    readerOf(() => undefined),
  );
  const ask = async (parts: readonly number[]): Promise<Verdict> =>
    (await gate.judge({ parts })) as Verdict;
  try {
    for (let i = 0; i < 30; i++) {
      const { afterMs, parts } = client.requests[
        i % client.requests.length
      ] as Client['requests'][0];
      clock.advance(i === 0 ? afterMs : Math.min(afterMs, 50));
      const verdict = await ask(parts);
      if (verdict.decision?.allowed) continue;
      const { 'Retry-After': retryAfter, RateLimit: field = '' } = seen(verdict);
      const fits = named.every(
        ([, { limit, burst = limit }], n) =>
          Math.max(1, Math.ceil((parts[n] as number) * burst)) <= burst,
      );
      if (!fits) {
        expect(retryAfter).toBeUndefined();
        return 'never';
      }
      expect(retryAfter).toMatch(/^[1-9]\d*$/);
      const denied = verdict.decision?.each?.filter(({ allowed }) => !allowed);
      const violated = new Set((denied ?? [verdict.decision]).map((one) => one?.policy));
      for (const [name, parameters] of parseList(field)) {
        if (!violated.has(name as string)) continue;
        expect(Number(retryAfter)).toBeGreaterThanOrEqual(parameters.get('t') as number);
      }
      clock.advance(Number(retryAfter) * 1000);
      const again = await ask(parts);
      expect(again.decision, JSON.stringify(client)).toMatchObject({ allowed: true });
      return 'admitted';
    }
    return undefined;
  } finally {
    await limiter.close();
  }
}

/** The first so many denials that a wait helps, of random clients; how many it never would. */
async function obey(
  algorithm: Algorithm,
  denials: number,
  open: (clock: ManualClock) => Store,
): Promise<number> {
  const clients = fc.sample(clientsOf(algorithm), { seed: 20_261_202, numRuns: 2 * denials });
  let admitted = 0;
  let never = 0;
  for (const client of clients) {
    const clock = new ManualClock();
    const store = open(clock);
    const outcome = await outcomeOf(client, store, clock);
    await store.close();
    if (outcome === 'never') never++;
    if (outcome === 'admitted') admitted++;
    if (admitted === denials) break;
  }
  expect(admitted).toBe(denials);
  return never;
}

describe('1000 random denials: who waits Retry-After is admitted, each time', () => {
  it.each(ALGORITHMS)('200 of %s', async (algorithm) => {
    const never = await obey(algorithm, 200, (clock) => memoryStore({ clock }));
    // Where the cost can never fit there was no Retry-After.
    expect(never).toBeGreaterThan(0);
  });
});

describe('the same on Redis', () => {
  let client: Redis;
  beforeAll(async () => {
    client = new Redis((await sharedRedis()).connection);
  });
  afterAll(async () => {
    await client.quit();
  });

  it.each(ALGORITHMS)('20 of %s', async (algorithm) => {
    await obey(algorithm, 20, (clock) =>
      frozenRedisStore(client, clock, { prefix: randomPrefix() }),
    );
  });
});
