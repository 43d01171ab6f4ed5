import { expect, it } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import { createLimiter } from '../../src/limiter/limiter.js';
import { ALGORITHMS } from '../../src/policy/policy.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { facts } from '../support/decisions.js';
import { PATIENT } from '../support/patient.js';
import { WORLDS } from '../support/worlds.js';

/** A fixed sequence of numbers from 0 up to 1: the same in every run. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

it.each(ALGORITHMS)('C-07 memory and Redis mean the same: %s', async (algorithm) => {
  const policies = { p: { limit: 30, window: '10s', algorithm } };
  const traces = WORLDS.map(async (world) => {
    const clock = new ManualClock(1_700_000_000_000);
    const { store, close } = await world.open(clock);
    const limiter = createLimiter({ policies, store, fallback: PATIENT, clock });
    // One limiter behind three routes, 20 requests to each: one quota.
    const routes = ['/a', '/b', '/c'].flatMap((route) => Array<string>(20).fill(route));
    const first = await Promise.all(routes.map(() => limiter.consume({ p: 'client' })));
    // 1000 calls of mixed costs at fixed times.
    const next = sequence(42);
    const trace = [];
    for (let i = 0; i < 1000; i++) {
      clock.advance(Math.floor(next() ** 3 * 2000));
      trace.push(await limiter.consume({ p: 'traced' }, { cost: Math.floor(next() * 6) }));
    }
    await limiter.close();
    await close();
    return { allowed: first.filter(({ allowed }) => allowed).length, trace };
  });
  const [memory, redis] = await Promise.all(traces);
  expect([memory?.allowed, redis?.allowed]).toEqual([30, 30]);
  // A denial that is remembered says the same, and as long a wait; the rest of it is a hint. A greater
  // cost than the one remembered may be told to wait a millisecond more than it has to.
  const pairs = (redis?.trace ?? []).map(
    (ours, i) => [ours, memory?.trace[i] as Decision] as const,
  );
  for (const [ours, exact] of pairs.filter(([{ origin }]) => origin === 'store')) {
    expect(facts(ours)).toEqual(facts(exact));
  }
  const remembered = pairs.filter(([{ origin }]) => origin === 'memory');
  for (const [ours, exact] of remembered) {
    expect(ours.allowed).toBe(exact.allowed);
    expect([0, 1]).toContain((ours.retryAfterMs ?? 0) - (exact.retryAfterMs ?? 0));
  }
  expect(remembered.length).toBeGreaterThan(20);
  const denied = memory?.trace.filter(({ allowed }) => !allowed).length;
  expect(denied).toBeGreaterThan(100);
});
