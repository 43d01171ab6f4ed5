import { describe, expect, it } from 'vitest';
import { makeDecision } from '../../src/algorithms/make-decision.js';
import type { Decision } from '../../src/decision/decision.js';
import { LocalDecisions } from '../../src/fallback/local-decisions.js';
import type { FallbackMode } from '../../src/policy/fallback-mode.js';
import {
  ALGORITHMS,
  type Policy,
  type PolicyOptions,
  parsePolicy,
} from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';

/** A start of windows that are aligned to the clock, for all windows here. */
const START_MS = 1_000_000;

interface Replica {
  readonly local: LocalDecisions;
  readonly clock: ManualClock;
  readonly store: Store;
}

function open(replicas = 1, mode: FallbackMode = 'local'): Replica {
  const clock = new ManualClock(START_MS);
  const store = memoryStore({ clock });
  const local = new LocalDecisions(store, clock, mode);
  local.replicas = replicas;
  return { local, clock, store };
}

function policyOf(options: Partial<PolicyOptions> = {}, name = 'p'): Policy {
  return parsePolicy(name, { limit: 10, window: '10s', ...options }, '');
}

function decide({ local }: Replica, policy: Policy, cost = 1, key = 'k'): Decision {
  return local.decide([{ policy, key, cost }], 'timeout')[0] as Decision;
}

/** How many of `count` calls of one permit are allowed. */
function allowed(replica: Replica, policy: Policy, count: number, key = 'k'): number {
  return Array.from({ length: count }, () => decide(replica, policy, 1, key)).filter(
    (decision) => decision.allowed,
  ).length;
}

/** What the share has left, in permits. */
function left(replica: Replica, policy: Policy): number {
  return decide(replica, policy, 0).remaining;
}

/** What the store says it has left, and for how long its window or its bucket is not full. */
function told(policy: Policy, remaining: number, resetAfterMs = 100): Decision {
  return makeDecision(policy, true, remaining, undefined, 100, resetAfterMs, 5, 'store');
}

describe('a local policy', () => {
  it.each(ALGORITHMS)('of a %s decides by its share, told in its own values', (algorithm) => {
    const replica = open(2);
    const policy = policyOf({ algorithm });
    expect(decide(replica, policy)).toMatchObject({
      allowed: true,
      policy: 'p',
      limit: 10,
      windowMs: 10_000,
      remaining: 4,
      origin: 'fallback',
      fallback: { mode: 'local', fault: 'timeout' },
      wouldDeny: false,
    });
    expect(allowed(replica, policy, 10)).toBe(4);
    const denied = decide(replica, policy);
    expect(denied).toMatchObject({ allowed: false, limit: 10, windowMs: 10_000, remaining: 0 });
    replica.clock.advance((denied.retryAfterMs as number) - 1);
    expect(decide(replica, policy).allowed).toBe(false);
    replica.clock.advance(1);
    expect(decide(replica, policy).allowed).toBe(true);
  });

  it('owes what it admitted, not what it denied', () => {
    const replica = open();
    const policy = policyOf();
    expect(allowed(replica, policy, 15)).toBe(10);
    expect(replica.local.owed.first(9)).toEqual([{ policy, key: 'k', cost: 10 }]);
  });

  it('charges and owes nothing for a cost of 0', () => {
    const replica = open();
    expect(decide(replica, policyOf(), 0)).toMatchObject({ allowed: true, remaining: 10 });
    expect(replica.local.owed.size).toBe(0);
    expect(left(replica, policyOf())).toBe(10);
  });

  it('denies what is above its share and not above the policy with a wait: the store may be back', () => {
    const replica = open(4);
    const denied = decide(replica, policyOf(), 5);
    expect(denied).toMatchObject({ allowed: false, retryAfterMs: 1000, remaining: 2 });
    expect(replica.local.owed.size).toBe(0);
  });

  it('denies what is above the policy without a wait', () => {
    const denied = decide(open(4), policyOf(), 11);
    expect(denied).toMatchObject({ allowed: false, retryAfterMs: undefined });
  });

  it('which only watches allows what its share does not cover, and owes none of that', () => {
    const replica = open();
    const policy = policyOf({ shadow: true });
    expect(decide(replica, policy, 7)).toMatchObject({ allowed: true, wouldDeny: false });
    expect(decide(replica, policy, 7)).toMatchObject({ allowed: true, wouldDeny: true });
    expect(replica.local.owed.clear(policy, 'k')).toBe(7);
    expect(left(replica, policy)).toBe(3);
  });
});

describe('an open policy', () => {
  it('allows all, and owes all of it', () => {
    const replica = open(2, 'open');
    const policy = policyOf();
    expect(allowed(replica, policy, 25)).toBe(25);
    expect(decide(replica, policy, 100)).toMatchObject({
      allowed: true,
      remaining: 0,
      wouldDeny: false,
      fallback: { mode: 'open', fault: 'timeout' },
    });
    expect(replica.local.owed.clear(policy, 'k')).toBe(125);
  });

  it('says what is left of all of it, as nobody divides it', () => {
    const replica = open(2, 'open');
    expect(decide(replica, policyOf(), 3).remaining).toBe(7);
  });
});

describe('a closed policy', () => {
  it('denies what costs something, with a wait of a second, and owes nothing', () => {
    const replica = open(1, 'closed');
    expect(decide(replica, policyOf())).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfterMs: 1000,
      refillAfterMs: 1000,
      fallback: { mode: 'closed', fault: 'timeout' },
    });
    expect(replica.local.owed.size).toBe(0);
  });

  it('lets who looks look, and tells that nothing is known', () => {
    const decision = decide(open(1, 'closed'), policyOf(), 0);
    expect(decision).toMatchObject({ allowed: true, remaining: 0, retryAfterMs: undefined });
  });

  it('which only watches allows, and says that it would have denied', () => {
    const replica = open(1, 'closed');
    const decision = decide(replica, policyOf({ shadow: true }));
    expect(decision).toMatchObject({ allowed: true, wouldDeny: true, retryAfterMs: undefined });
    expect(replica.local.owed.size).toBe(0);
  });
});

describe('several policies of one call', () => {
  const local = policyOf({ fallback: 'local', limit: 2 }, 'local');
  const other = policyOf({ fallback: 'local' }, 'other');
  const opened = policyOf({ fallback: 'open' }, 'open');
  const closed = policyOf({ fallback: 'closed' }, 'closed');
  const watching = policyOf({ fallback: 'closed', shadow: true }, 'watching');

  function decideAll(replica: Replica, policies: readonly Policy[], cost = 1): readonly Decision[] {
    return replica.local.decide(
      policies.map((policy) => ({ policy, key: 'k', cost })),
      'connection',
    );
  }
  const allowedOf = (decisions: readonly Decision[]) => decisions.map((one) => one.allowed);

  it('are decided in the order they came, each by its own mode', () => {
    const replica = open();
    const decisions = decideAll(replica, [opened, local, watching, other]);
    expect(decisions.map(({ policy, fallback }) => [policy, fallback?.mode])).toEqual([
      ['open', 'open'],
      ['local', 'local'],
      ['watching', 'closed'],
      ['other', 'local'],
    ]);
    expect(decisions.map(({ remaining }) => remaining)).toEqual([9, 1, 0, 9]);
    expect(allowedOf(decisions)).toEqual([true, true, true, true]);
    expect(replica.local.owed.first(9).map(({ policy }) => policy.name)).toEqual([
      'open',
      'local',
      'other',
    ]);
  });

  it('are charged all or none: a share that is short spares the others', () => {
    const replica = open();
    const decisions = decideAll(replica, [other, local, opened], 3);
    expect(allowedOf(decisions)).toEqual([true, false, true]);
    expect(replica.local.owed.size).toBe(0);
    expect([left(replica, other), left(replica, opened), left(replica, local)]).toEqual([
      10, 10, 2,
    ]);
  });

  it('are charged none where one is closed; each says by itself whether it fits', () => {
    const replica = open();
    const decisions = decideAll(replica, [other, closed, local, opened], 3);
    expect(allowedOf(decisions)).toEqual([true, false, false, true]);
    expect(replica.local.owed.size).toBe(0);
    expect([left(replica, other), left(replica, opened), left(replica, local)]).toEqual([
      10, 10, 2,
    ]);
  });

  it('may be looked at where one is closed', () => {
    expect(allowedOf(decideAll(open(), [other, closed], 0))).toEqual([true, true]);
  });

  it('with one that is closed and costs nothing are charged', () => {
    const replica = open();
    const charges = [
      { policy: other, key: 'k', cost: 3 },
      { policy: closed, key: 'k', cost: 0 },
    ];
    expect(allowedOf(replica.local.decide(charges, 'other'))).toEqual([true, true]);
    expect(left(replica, other)).toBe(7);
  });
});

describe.each(ALGORITHMS)('what the store says is left of a %s', (algorithm) => {
  const policy = policyOf({ algorithm, limit: 100 });

  it('is followed down at once, by its part, rounded down', () => {
    const replica = open(3);
    for (const [said, part] of [
      [99, 33],
      [98, 32],
      [50, 16],
      [2, 0],
      [0, 0],
    ] as const) {
      replica.local.learn(policy, 'k', told(policy, said));
      expect(left(replica, policy)).toBe(part);
    }
    expect(replica.local.owed.size).toBe(0);
  });

  it('is followed up, and never above', () => {
    const replica = open(2);
    replica.local.learn(policy, 'k', told(policy, 0));
    for (const said of [10, 11, 60, 100]) {
      replica.local.learn(policy, 'k', told(policy, said));
      expect(left(replica, policy)).toBe(Math.floor(said / 2));
    }
    replica.local.learn(policy, 'k', told(policy, 1000));
    expect(left(replica, policy)).toBe(50);
  });

  it('is not exceeded later either: what is short comes back no sooner than it would alone', () => {
    const replica = open(2);
    replica.local.learn(policy, 'k', told(policy, 0, 10_000));
    replica.clock.advance(1000);
    expect(left(replica, policy)).toBeLessThanOrEqual(5);
    replica.clock.advance(8999);
    expect(left(replica, policy)).toBeLessThanOrEqual(50);
  });

  it('is all of it where the policy is open, and nothing where it is closed', () => {
    const opened = open(4, 'open');
    opened.local.learn(policy, 'k', told(policy, 42));
    expect(left(opened, policy)).toBe(42);
    const closed = open(4, 'closed');
    closed.local.learn(policy, 'k', told(policy, 42));
    expect(left(closed, policy)).toBe(0);
  });

  it('means one bucket alone', () => {
    const replica = open(1);
    replica.local.learn(policy, 'k', told(policy, 0));
    expect(decide(replica, policy, 0, 'other').remaining).toBe(100);
  });
});

describe.each(['fixed-window', 'sliding-log'] as const)('a %s of the store', (algorithm) => {
  const policy = policyOf({ algorithm });

  it('is followed to the millisecond: no fresh share before all has come back, and one then', () => {
    const replica = open();
    replica.local.learn(policy, 'k', told(policy, 9, 10_000));
    expect(left(replica, policy)).toBe(9);
    replica.clock.advance(9000);
    // Another replica has spent it since; the first of it was spent a second ago.
    replica.local.learn(policy, 'k', told(policy, 0, 9000));
    expect(allowed(replica, policy, 20)).toBe(0);
    replica.clock.advance(8999);
    expect(allowed(replica, policy, 20)).toBe(0);
    replica.clock.advance(1);
    expect(allowed(replica, policy, 20)).toBe(10);
  });

  it('is followed also where nobody looks before its end', () => {
    const replica = open();
    replica.local.learn(policy, 'k', told(policy, 0, 1000));
    replica.clock.advance(1000);
    expect(left(replica, policy)).toBe(10);
  });
});

describe.each(ALGORITHMS)('a %s of fewer permits than replicas', (algorithm) => {
  it('leaves one permit to each while the store’s bucket is full', () => {
    const replica = open(5);
    const policy = policyOf({ algorithm, limit: 3 });
    replica.local.learn(policy, 'k', told(policy, 3, 0));
    expect(allowed(replica, policy, 9)).toBe(1);
  });
});

describe('what was said before a call was decided here', () => {
  it('is not believed again: what is owed is not known to the store', () => {
    const replica = open();
    const policy = policyOf();
    expect(allowed(replica, policy, 6)).toBe(6);
    replica.local.learn(policy, 'k', told(policy, 10, 0));
    expect(allowed(replica, policy, 9)).toBe(4);
  });

  it('is believed from when what was owed is paid on', () => {
    const replica = open();
    const policy = policyOf();
    expect(allowed(replica, policy, 6)).toBe(6);
    expect(replica.local.due(policy, 'k')).toBe(6);
    replica.local.learn(policy, 'k', told(policy, 2, 8000));
    expect(allowed(replica, policy, 9)).toBe(2);
  });

  it('is as of when it was said: what came back since is there', () => {
    const replica = open(2);
    const policy = policyOf();
    replica.local.learn(policy, 'k', told(policy, 0, 10_000));
    replica.clock.advance(6000);
    expect(left(replica, policy)).toBe(3);
  });
});

describe('the number of replicas', () => {
  it('changes the share from the next call on; what was spent stays spent', () => {
    const replica = open(1);
    const policy = policyOf({ limit: 12 });
    expect(allowed(replica, policy, 2)).toBe(2);
    replica.local.replicas = 3;
    expect(allowed(replica, policy, 12)).toBe(2);
    replica.local.replicas = 2;
    expect(allowed(replica, policy, 12)).toBe(2);
  });

  // A gcra keeps times, not permits: of another rate they are another number of them.
  it.each(ALGORITHMS.filter((name) => name !== 'gcra'))(
    'of a %s that rises in mid-outageleaves owed what was admitted',
    (algorithm) => {
      const replica = open(1);
      const policy = policyOf({ algorithm });
      expect(allowed(replica, policy, 20)).toBe(10);
      replica.local.replicas = 5;
      expect(replica.local.due(policy, 'k')).toBe(10);
    },
  );

  it('does not divide what is open', () => {
    const replica = open(5, 'open');
    expect(decide(replica, policyOf(), 1).remaining).toBe(9);
  });
});

describe('a tier', () => {
  it('has a share of its own values, in the bucket it shares with others', () => {
    const replica = open(2);
    const paid = policyOf({ limit: 20 });
    expect(allowed(replica, policyOf(), 20)).toBe(5);
    expect(allowed(replica, paid, 20)).toBe(5);
    expect(replica.local.owed.size).toBe(1);
    expect(replica.local.due(paid, 'k')).toBe(10);
  });

  it('made anew for every call is decided like one that is kept', () => {
    const replica = open(2);
    const decisions = Array.from({ length: 3000 }, () => decide(replica, policyOf()).allowed);
    expect(decisions.filter(Boolean)).toHaveLength(5);
  });

  it('may have a mode of its own', () => {
    const replica = open(2);
    expect(decide(replica, policyOf({ fallback: 'closed' })).allowed).toBe(false);
    expect(decide(replica, policyOf({ fallback: 'open' }), 99).allowed).toBe(true);
  });
});

describe('a refund', () => {
  it('comes back to the share, and is owed no more', async () => {
    const replica = open(2);
    const policy = policyOf();
    const taken = decide(replica, policy, 4);
    const { decision, charged } = await replica.local.refund({ policy, key: 'k', cost: 3 }, taken);
    expect(decision).toMatchObject({ remaining: 4, limit: 10, origin: 'fallback' });
    expect(decision.fallback).toEqual({ mode: 'local', fault: 'timeout' });
    expect(charged).toBe(0);
    expect(replica.local.owed.clear(policy, 'k')).toBe(1);
  });

  it('tells what of it the store was charged with meanwhile', async () => {
    const replica = open(2);
    const policy = policyOf();
    const taken = decide(replica, policy, 4);
    expect(replica.local.due(policy, 'k')).toBe(4);
    decide(replica, policy, 1);
    const { charged } = await replica.local.refund({ policy, key: 'k', cost: 4 }, taken);
    expect(charged).toBe(3);
  });

  it('of a window that is over does not come back into a later one', async () => {
    const replica = open();
    const policy = policyOf({ algorithm: 'fixed-window' });
    const taken = decide(replica, policy, 4);
    replica.clock.advance(10_000);
    expect(allowed(replica, policy, 10)).toBe(10);
    await replica.local.refund({ policy, key: 'k', cost: 4 }, taken);
    expect(left(replica, policy)).toBe(0);
  });
});

describe('what a settlement takes', () => {
  it('goes below zero, and is owed', async () => {
    const replica = open(2);
    const policy = policyOf();
    const charge = { policy, key: 'k', cost: 8 };
    const decision = await replica.local.overcharge(charge, 'memory');
    expect(decision).toMatchObject({ remaining: 0, origin: 'fallback' });
    expect(decision.fallback).toEqual({ mode: 'local', fault: 'memory' });
    expect(decide(replica, policy).allowed).toBe(false);
    expect(replica.local.due(policy, 'k')).toBe(8);
  });

  it('is owed by a closed policy, too: that call went ahead before', async () => {
    const replica = open(2, 'closed');
    const policy = policyOf();
    await replica.local.overcharge({ policy, key: 'k', cost: 8 }, 'memory');
    expect(replica.local.due(policy, 'k')).toBe(8);
  });
});

describe('what is due to the store', () => {
  it.each(ALGORITHMS)('of a %s is what was admitted, while nothing has come back', (algorithm) => {
    const replica = open(2);
    const policy = policyOf({ algorithm });
    expect(allowed(replica, policy, 9)).toBe(5);
    expect(replica.local.due(policy, 'k')).toBe(5);
    expect(replica.local.due(policy, 'k')).toBe(0);
  });

  it('is not more than the share misses: what that has refilled, the store’s bucket has, too', () => {
    const replica = open(2);
    const policy = policyOf();
    allowed(replica, policy, 5);
    // Half a permit a second.
    replica.clock.advance(4000);
    expect(replica.local.due(policy, 'k')).toBe(3);
  });

  it('is rounded up', () => {
    const replica = open(2);
    const policy = policyOf();
    allowed(replica, policy, 5);
    replica.clock.advance(1);
    expect(replica.local.due(policy, 'k')).toBe(5);
  });

  it('is nothing of a bucket that is full again', () => {
    const replica = open(2);
    const policy = policyOf();
    allowed(replica, policy, 5);
    replica.clock.advance(10_000);
    expect(replica.local.due(policy, 'k')).toBe(0);
    expect(replica.local.owed.size).toBe(0);
  });

  it('is not what the store knew of before', () => {
    const replica = open(1);
    const policy = policyOf();
    replica.local.learn(policy, 'k', told(policy, 4));
    expect(allowed(replica, policy, 9)).toBe(4);
    expect(replica.local.due(policy, 'k')).toBe(4);
  });

  it('is at most a full bucket of what an open policy has let through', () => {
    const replica = open(2, 'open');
    const policy = policyOf();
    allowed(replica, policy, 500);
    expect(replica.local.due(policy, 'k')).toBe(10);
  });

  it('O-10 of windows that are over is nothing: the new one has only its own', () => {
    const replica = open();
    const policy = policyOf({ algorithm: 'fixed-window', limit: 5 });
    // Away for 25 s: five calls pass at 0, 10 and 20 s.
    for (const atMs of [0, 10_000, 20_000]) {
      replica.clock.set(START_MS + atMs);
      expect(allowed(replica, policy, 6)).toBe(5);
    }
    expect(replica.local.owed.first(1)[0]?.cost).toBe(15);
    replica.clock.set(START_MS + 30_000);
    expect(replica.local.due(policy, 'k')).toBe(0);
    expect(allowed(replica, policy, 6)).toBe(5);
  });

  it('O-10 in mid-window is what was spent in that one', () => {
    const replica = open();
    const policy = policyOf({ algorithm: 'fixed-window', limit: 5 });
    for (const [atMs, count] of [
      [0, 5],
      [10_000, 5],
      [20_000, 3],
    ] as const) {
      replica.clock.set(START_MS + atMs);
      allowed(replica, policy, count);
    }
    replica.clock.set(START_MS + 25_000);
    expect(replica.local.due(policy, 'k')).toBe(3);
  });
});

describe('a bucket that begins anew', () => {
  it('owes nothing and has all of its share', () => {
    const replica = open(2);
    const policy = policyOf();
    allowed(replica, policy, 5);
    replica.local.reset(policy, 'k');
    expect(replica.local.owed.size).toBe(0);
    expect(allowed(replica, policy, 9)).toBe(5);
  });

  it('is not what the store said of it before', () => {
    const replica = open(2);
    const policy = policyOf();
    replica.local.learn(policy, 'k', told(policy, 0, 10_000));
    replica.local.reset(policy, 'k');
    expect(left(replica, policy)).toBe(5);
  });
});

describe('limiters of one store', () => {
  it('share what is spent and what is owed; those of another do not', () => {
    const a = open(2);
    const b = { ...a, local: new LocalDecisions(a.store, a.clock, 'local') };
    b.local.replicas = 2;
    const policy = policyOf();
    expect(allowed(a, policy, 3)).toBe(3);
    expect(allowed(b, policy, 9)).toBe(2);
    expect(b.local.due(policy, 'k')).toBe(5);
    expect(a.local.owed.size).toBe(0);
    expect(allowed(open(2), policy, 9)).toBe(5);
  });
});

describe('memory', () => {
  it('is bounded by buckets, however many clients come', () => {
    const replica = open();
    const policy = policyOf({ window: '1h' });
    for (let i = 0; i < 100_500; i++) decide(replica, policy, 1, `key-${i}`);
    expect(replica.local.owed.size).toBe(100_000);
    expect(replica.local.owed.forgotten).toBe(500);
  });
});
