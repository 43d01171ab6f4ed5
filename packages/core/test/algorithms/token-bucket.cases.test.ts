import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import { type Policy, parsePolicy } from '../../src/policy/policy.js';
import type { Store } from '../../src/store/store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { expectSound } from '../support/decisions.js';
import { WORLDS } from '../support/worlds.js';
import { CASES, type Step } from './token-bucket.cases.js';

const START_MS = 1_700_000_000_000;

describe.each(WORLDS)('token bucket cases on $name', (world) => {
  const clock = new ManualClock(START_MS);
  let store: Store;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ store, close } = await world.open(clock));
  });
  afterAll(() => close());

  it.each(CASES)('$name', async ({ name, policy: options, steps }) => {
    const policy = parsePolicy('case', options, '');
    for (const step of steps) {
      clock.set(START_MS + step.atMs);
      let decision: Decision | undefined;
      for (let i = step.times ?? 1; i > 0; i--) {
        decision = await run(store, policy, name, step);
        if (decision === undefined) continue;
        expectSound(policy, step.cost ?? 1, decision);
        if (step.allowed !== undefined) expect(decision.allowed, show(step)).toBe(step.allowed);
      }
      if (decision !== undefined) expectFields(step, decision);
    }
  });
});

async function run(
  store: Store,
  policy: Policy,
  key: string,
  step: Step,
): Promise<Decision | undefined> {
  const cost = step.cost ?? 1;
  switch (step.do ?? 'consume') {
    case 'consume':
      return store.tryConsume(policy, key, cost) ?? store.consume(policy, key, cost);
    case 'peek':
      return store.consume(policy, key, 0);
    case 'refund':
      return store.refund(policy, key, cost);
    case 'reset':
      await store.reset(policy, key);
      return undefined;
  }
}

function expectFields(step: Step, decision: Decision): void {
  for (const field of ['remaining', 'retryAfterMs', 'refillAfterMs', 'resetAfterMs'] as const) {
    if (field in step) expect(decision[field], `${field} of ${show(step)}`).toBe(step[field]);
  }
}

function show(step: Step): string {
  return JSON.stringify(step);
}
