import { describe, expect, it } from 'vitest';
import type { PolicyExplanation } from '../../src/limiter/explanation.js';
import { createLimiter } from '../../src/limiter/limiter.js';
import type { PolicyOptions } from '../../src/policy/policy.js';
import { answerOf, factsOfAnswer } from '../../src/status/words.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { wallClock } from '../../src/time/clock.js';

const HERE = "The store is in this replica's memory: all of this is this replica's alone.";
const NO_DENIAL = 'This replica has noted no denial of this key lately.';

/** Of a policy `api` after `spent` permits: what `explain` says of another `cost`. */
async function explained(policy: Partial<PolicyOptions>, spent: number, cost = 1, settled = spent) {
  const clock = new ManualClock();
  const limiter = createLimiter({
    policies: { api: { limit: 100, window: '1m', ...policy } },
    store: memoryStore({ clock }),
  });
  if (spent > 0) await limiter.consume({ api: 'k' }, { cost: spent });
  await limiter.settle({ api: 'k' }, { estimate: spent, cost: settled });
  const { each } = await limiter.explain({ api: 'k' }, { cost });
  return each[0] as PolicyExplanation;
}

function byStore(one: PolicyExplanation): PolicyExplanation {
  return { ...one, decision: { ...one.decision, origin: 'store' } };
}

describe('what the status page says', () => {
  it.each([
    ['goes ahead', {}, 58, 1, 'Goes ahead: 42 of 100 permits are left under policy api.'],
    [
      'is denied',
      {},
      100,
      5,
      'Denied: 0 of 100 permits are left under policy api. A call of cost 5 fits in 3 s, if nobody else spends.',
    ],
    ['never fits', {}, 0, 500, 'Never fits: a cost of 500 is above the burst of 100.'],
    ['has no limit', { limit: 0 }, 0, 1, 'Never fits: policy api has a limit of 0.'],
    [
      'is watched',
      { shadow: true },
      100,
      1,
      'Would be denied; the policy only watches, so the call goes ahead: 0 of 100 permits are left under policy api. A call of cost 1 fits in 600 ms, if nobody else spends.',
    ],
    [
      'is watched and never fits',
      { shadow: true },
      0,
      101,
      'Would be denied; the policy only watches, so the call goes ahead. It never fits: a cost of 101 is above the burst of 100.',
    ],
  ])('a call that %s', async (_, policy, spent, cost, verdict) => {
    const one = await explained(policy, spent, cost);
    expect(answerOf(one, cost, 0)).toBe(`${verdict} ${NO_DENIAL} ${HERE}`);
  });

  it('a bucket in debt', async () => {
    const one = await explained({}, 90, 1, 112);
    expect(answerOf(one, 1, 0)).toContain(
      'Denied: policy api is 12 permits below zero after a settlement. A call of cost 1 fits in 7.8 s, if nobody else spends.',
    );
    expect(factsOfAnswer(one, 1, 0)).toMatchObject({ Left: '-12 of 100', 'Goes ahead': 'no' });
  });

  it('tells what is this replica’s from what is the shared store’s', async () => {
    expect(answerOf(byStore(await explained({}, 0)), 1, 0)).toContain(
      "Counts and denials are this replica's; what is left and when a call fits are the shared store's.",
    );
  });

  it('says so first where the store does not answer', async () => {
    const one = await explained({}, 1);
    const fallback = { mode: 'local', fault: 'timeout' } as const;
    const lost = { ...one, decision: { ...one.decision, origin: 'fallback' as const, fallback } };
    expect(answerOf(lost, 1, 0)).toBe(
      `The store does not answer; this is what this replica knows by its fallback (mode local). Goes ahead: 99 of 100 permits are left under policy api. ${NO_DENIAL}`,
    );
    expect(factsOfAnswer(lost, 1, 0)['Answered by']).toBe('the fallback, mode local (timeout)');
  });

  it('tells of leases', async () => {
    const one = { ...byStore(await explained({}, 100)), fits: true, held: 5, out: 30 };
    expect(answerOf(one, 1, 0)).toContain(
      'Goes ahead: 0 of 100 permits are left under policy api, and this replica holds 5 in advance. Of what is spent 30 permits are held by replicas on leases.',
    );
  });

  it('tells of denials', async () => {
    const nowMs = wallClock.nowMs();
    const note = { atMs: nowMs - 2000, count: 4, cost: 1, retryAfterMs: 1, shadow: false };
    const denials = { count: 1204, last: [{ ...note, origin: 'store' as const }] };
    const one = { ...(await explained({}, 100)), denials };
    expect(answerOf(one, 1, nowMs)).toContain(
      'This replica noted about 1,204 denials of this key lately, the last 2 s ago by the store.',
    );
    expect(factsOfAnswer(one, 1, nowMs)).toMatchObject({
      'Denials noted here': '1,204',
      'Denial 1, 2 s ago': '4 at a cost of 1, by the store',
    });
  });
});
