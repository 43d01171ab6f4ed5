import * as fc from 'fast-check';
import type { LeaseOptions } from '../../src/policy/lease-terms.js';
import type { Algorithm, PolicyOptions } from '../../src/policy/policy.js';
import type { Name } from './fleet-record.js';
import type { Phase, ReplicaPlan } from './fleet-replica.js';
import type { Fate } from './virtual-network.js';

/** All that is there of a bucket is spent at once, at the store and by every replica. */
export interface Rush {
  readonly atMs: number;
  readonly of: Name;
}

export interface FleetPlan {
  readonly startMs: number;
  readonly policies: { readonly [N in Name]: PolicyOptions };
  readonly replicas: readonly ReplicaPlan[];
  readonly rushes: readonly Rush[];
  readonly fates: readonly Fate[];
}

const LONGEST_TTL_MS = 2000;
const LONGEST_EVERY_MS = 400;

/** Quarters of a millisecond: what is in between matters where clocks are read in whole ones. */
function quarters(max: number): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: max * 4 }).map((count) => count / 4);
}

/** Mostly short; now and then as long as some lease times. */
const delays: fc.Arbitrary<number> = fc.oneof(
  { weight: 6, arbitrary: quarters(5) },
  { weight: 3, arbitrary: quarters(60) },
  { weight: 1, arbitrary: quarters(3 * LONGEST_TTL_MS) },
);

const pauses: fc.Arbitrary<number> = fc.oneof(
  { weight: 6, arbitrary: quarters(50) },
  { weight: 3, arbitrary: quarters(500) },
  { weight: 1, arbitrary: quarters(2 * LONGEST_TTL_MS) },
);

const nothing = fc.constant(undefined);

const fates: fc.Arbitrary<Fate> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      thereMs: quarters(5),
      backMs: quarters(5),
      lost: nothing,
      noticedAfterMs: nothing,
      again: nothing,
      rushed: fc.constant(false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      thereMs: delays,
      backMs: delays,
      lost: fc.constantFrom(undefined, undefined, undefined, 'there' as const, 'back' as const),
      noticedAfterMs: fc.oneof({ weight: 4, arbitrary: delays }, { weight: 1, arbitrary: nothing }),
      again: fc.oneof(
        { weight: 1, arbitrary: nothing },
        {
          weight: 1,
          arbitrary: fc.record({
            thereMs: delays,
            seen: fc.constantFrom('first' as const, 'second' as const),
          }),
        },
      ),
      rushed: fc.constantFrom(false, false, true),
    }),
  },
);

const leases: fc.Arbitrary<LeaseOptions> = fc
  .record({
    ttl: fc.integer({ min: 100, max: LONGEST_TTL_MS }),
    horizonShare: fc.constantFrom(undefined, 0.02, 0.1, 0.3, 0.5),
    maxShare: fc.constantFrom(0.1, 0.25, 0.5, 0.9, 1),
    pace: fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
  })
  .map(({ ttl, horizonShare, maxShare, pace }) => ({
    ttl,
    maxShare,
    horizon: horizonShare && Math.max(1, Math.floor(ttl * horizonShare)),
    pace,
  }));

/** Small ones: a fleet is to come to their limits. */
function policies(
  algorithms: fc.Arbitrary<Algorithm>,
  lease: fc.Arbitrary<LeaseOptions | undefined>,
): fc.Arbitrary<PolicyOptions & { readonly limit: number; readonly window: number }> {
  return fc
    .record({
      algorithm: algorithms,
      limit: fc.oneof(
        { weight: 3, arbitrary: fc.integer({ min: 20, max: 200 }) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }) },
      ),
      window: fc.oneof(
        { weight: 3, arbitrary: fc.integer({ min: 50, max: 500 }) },
        { weight: 1, arbitrary: fc.integer({ min: 50, max: 5000 }) },
      ),
      burst: fc.constantFrom(0.02, 0.1, 0.5, 1, 2),
      lease,
    })
    .map(({ burst, ...options }) =>
      options.algorithm === 'token-bucket'
        ? { ...options, burst: Math.ceil(burst * options.limit) }
        : options,
    );
}

/** One that mostly denies: what was taken of another for its calls was never spent. */
const strictPolicies: fc.Arbitrary<PolicyOptions> = fc.record({
  algorithm: fc.constantFrom('token-bucket' as const, 'fixed-window' as const),
  limit: fc.integer({ min: 1, max: 3 }),
  window: fc.integer({ min: 500, max: 5000 }),
});

/** `load` is what it asks for, as a share of what the first policy allows. */
const phases = fc.record({
  waitMs: pauses,
  ticks: fc.integer({ min: 1, max: 40 }),
  load: fc.constantFrom(0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 1, 3),
  calls: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 3 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }) },
  ),
  cost: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 8 })),
  under: fc.oneof(
    { weight: 4, arbitrary: fc.constant('p' as const) },
    { weight: 2, arbitrary: fc.constant('both' as const) },
    { weight: 1, arbitrary: fc.constant('q' as const) },
  ),
  refundsEach: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 10 }) },
  ),
  refundAfterMs: delays,
});

function replicas(clockRates: fc.Arbitrary<number>) {
  return fc.record({
    joinsAtMs: fc.oneof(fc.constant(0), quarters(500)),
    clockStartMs: fc.integer({ min: 0, max: 1_000_000 }),
    clockRate: clockRates,
    phases: fc.array(phases, { minLength: 1, maxLength: 3 }),
    leaves: fc.constantFrom(
      'at the end' as const,
      'in good order' as const,
      'crashes' as const,
      'crashes, with its messages' as const,
    ),
  });
}

/** `share` is when, of the time until the last replica's last call. */
const rushes = fc.record({
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  of: fc.constantFrom('p' as const, 'p' as const, 'p' as const, 'q' as const),
});

/** Fleets under a leased policy of one algorithm and now and then another, leased or not. */
export function fleets(
  algorithm: Algorithm,
  clockRates: fc.Arbitrary<number> = fc.integer({ min: 980, max: 1020 }).map((n) => n / 1000),
): fc.Arbitrary<FleetPlan> {
  return fc
    .record({
      startMs: fc.integer({ min: 0, max: 10_000 }),
      p: policies(fc.constant(algorithm), leases),
      q: fc.oneof(
        strictPolicies,
        policies(
          fc.constantFrom('token-bucket', 'fixed-window', 'sliding-window'),
          fc.option(leases, { nil: undefined }),
        ),
      ),
      replicas: fc.array(replicas(clockRates), { minLength: 1, maxLength: 4 }),
      rushes: fc.array(rushes, { maxLength: 6 }),
      fates: fc.array(fates, { minLength: 1, maxLength: 12 }),
    })
    .map(({ p, q, ...plan }) => {
      const perMs = p.limit / p.window;
      const replicas = plan.replicas.map((replica) => ({
        ...replica,
        phases: replica.phases.map((phase) => paced(phase, perMs)),
      }));
      const endMs = Math.max(...replicas.map(endOf));
      const rushes = plan.rushes.map(({ share, of }) => ({ atMs: Math.floor(share * endMs), of }));
      return { ...plan, policies: { p, q }, replicas, rushes };
    });
}

function paced({ load, ...phase }: Omit<Phase, 'everyMs'> & { load: number }, perMs: number) {
  const everyMs = (phase.calls * phase.cost) / (load * perMs);
  return { ...phase, everyMs: Math.min(LONGEST_EVERY_MS, Math.round(4 * everyMs) / 4) };
}

function endOf({ joinsAtMs, phases }: ReplicaPlan): number {
  const lengths = phases.map(({ waitMs, ticks, everyMs }) => waitMs + (ticks - 1) * everyMs);
  return lengths.reduce((sum, ms) => sum + ms, joinsAtMs);
}
