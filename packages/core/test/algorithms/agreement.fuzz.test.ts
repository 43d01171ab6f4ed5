import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import type { Policy } from '../../src/policy/policy.js';
import type { Store } from '../../src/store/store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { expectSound, facts } from '../support/decisions.js';
import { fuzzRuns, fuzzTimeoutMs } from '../support/fuzz.js';
import { type Call, type History, histories } from '../support/histories.js';
import { MEMORY, type OpenStore, REDIS } from '../support/worlds.js';

const START_MS = 1_700_000_000_000;

/** All calls of an instant at once, as requests of one turn of the event loop arrive. */
async function replay(store: Store, clock: ManualClock, id: string, history: History) {
  const decisions: (Decision | undefined)[] = [];
  clock.set(START_MS);
  for (const { afterMs, policy: index, calls } of history.instants) {
    clock.advance(afterMs);
    const policy = history.policies[index % history.policies.length] as Policy;
    decisions.push(...(await Promise.all(calls.map((call) => ask(store, policy, id, call)))));
  }
  return decisions;
}

async function ask(store: Store, policy: Policy, id: string, call: Call) {
  const key = `${id}/${call.key}`;
  if (call.do === 'refund') return store.refund(policy, key, call.cost);
  if (call.do === 'consume') return store.consume(policy, key, call.cost);
  await store.reset(policy, key);
  return undefined;
}

describe('G6 memory and Redis are the same algorithm', () => {
  const clock = new ManualClock(START_MS);
  let memory: OpenStore;
  let redis: OpenStore;
  let replayed = 0;
  beforeAll(async () => {
    memory = await MEMORY.open(clock);
    redis = await REDIS.open(clock);
  });
  afterAll(() => Promise.all([memory.close(), redis.close()]));

  it(
    'random histories give the same decisions, to the digit',
    () =>
      fc.assert(
        fc.asyncProperty(histories, async (history) => {
          const id = `history-${++replayed}`;
          const expected = await replay(memory.store, clock, id, history);
          const actual = await replay(redis.store, clock, id, history);
          expect(actual.map((it) => it && facts(it))).toEqual(
            expected.map((it) => it && facts(it)),
          );
          for (const decision of actual) if (decision) expect(decision.origin).toBe('store');
          for (const decision of expected) if (decision) expect(decision.origin).toBe('memory');
        }),
        fuzzRuns(),
      ),
    fuzzTimeoutMs(),
  );
});

describe('every decision is sound', () => {
  it('whatever is asked of whatever policy', async () => {
    const clock = new ManualClock();
    const { store, close } = await MEMORY.open(clock);
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(histories, async ({ policies, instants }) => {
        const id = `sound-${++asked}`;
        for (const { afterMs, policy: index, calls } of instants) {
          clock.set(Math.max(0, clock.nowMs() + (afterMs % 1_000_000)));
          const policy = policies[index % policies.length] as Policy;
          for (const call of calls) {
            const decision = await ask(store, policy, id, call);
            if (decision) expectSound(policy, call.cost, decision);
          }
        }
      }),
      fuzzRuns(),
    );
    await close();
  });
});
