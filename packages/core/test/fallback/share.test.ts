import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_AMOUNT } from '../../src/arith/integers.js';
import { shareOf } from '../../src/fallback/share.js';
import { ALGORITHMS, type Algorithm, type Policy, parsePolicy } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { fuzzRuns } from '../support/fuzz.js';
import type { Line } from '../support/journal.js';
import { LAWS } from '../support/laws.js';
import { worstOvershoot } from '../support/overshoot.js';

const START_MS = 1_000_000;

function isBucket(algorithm: Algorithm): boolean {
  return algorithm === 'token-bucket' || algorithm === 'gcra';
}

interface Step {
  readonly afterMs: number;
  readonly replica: number;
  readonly cost: number;
}

/** What `replicas` replicas admit together, each by its share alone. */
function admitted(policy: Policy, replicas: number, steps: readonly Step[]): Line[] {
  const clock = new ManualClock(START_MS);
  const stores = Array.from({ length: replicas }, () => memoryStore({ clock }));
  const share = shareOf(policy, replicas);
  const lines: Line[] = [];
  steps.forEach(({ afterMs, replica, cost }, turn) => {
    clock.advance(afterMs);
    const decision = stores[replica % replicas]?.tryConsume(share, 'k', cost);
    if (!decision?.allowed || cost === 0) return;
    lines.push({ turn, atMs: clock.nowMs(), did: 'admitted', permits: cost, by: 'store' });
  });
  return lines;
}

/** What no interval of the lines may break, by how each algorithm counts; undefined where none does. */
function broken(policy: Policy, lines: readonly Line[]): string | undefined {
  const { algorithm, burst, limit, windowMs } = policy;
  if (isBucket(algorithm)) return LAWS['token-bucket']?.(policy, lines);
  if (algorithm === 'sliding-window') return LAWS['sliding-window']?.(policy, lines);
  const admissions = lines.flatMap((line) =>
    line.did === 'admitted' ? [{ fromMs: line.atMs, toMs: line.atMs, permits: line.permits }] : [],
  );
  // A window is the interval [start, start + windowMs); two of them meet in one where they are fixed.
  const most = algorithm === 'fixed-window' ? 2 * burst : limit;
  for (const { fromMs } of admissions) {
    const within = admissions.filter(({ toMs }) => toMs >= fromMs && toMs < fromMs + windowMs);
    const over = worstOvershoot(within, most, 0);
    if (over > 0) return `${over} permits too many from ${fromMs} on`;
  }
  return undefined;
}

const histories = (algorithm: Algorithm) =>
  fc.record({
    replicas: fc.integer({ min: 1, max: 6 }),
    limit: fc.integer({ min: 1, max: 40 }),
    burst: fc.integer({ min: 1, max: 40 }),
    window: fc.integer({ min: 1, max: 300 }),
    steps: fc.array(
      fc.record({
        afterMs: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 400 })),
        replica: fc.nat(5),
        cost: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 12 })),
      }),
      { minLength: 1, maxLength: 80 },
    ),
    algorithm: fc.constant(algorithm),
  });

describe.each(ALGORITHMS)('shares of a %s', (algorithm) => {
  it('admit together no more than the policy does, but for one permit each', () => {
    fc.assert(
      fc.property(histories(algorithm), ({ replicas, limit, burst, window, steps }) => {
        const own = isBucket(algorithm) ? { burst } : {};
        const policy = parsePolicy('p', { algorithm, limit, window, ...own }, '');
        const lines = admitted(policy, replicas, steps);
        const least = Math.max(policy.burst, replicas);
        const lawful = isBucket(algorithm)
          ? { ...policy, burst: least }
          : { ...policy, burst: least, limit: least };
        expect(broken(lawful, lines)).toBeUndefined();
      }),
      fuzzRuns(),
    );
  });

  it('use all of a limit that is a multiple of the replicas, under an even load', () => {
    for (const replicas of [1, 2, 3, 7]) {
      const policy = parsePolicy('p', { algorithm, limit: 20 * replicas, window: '1s' }, '');
      // Half as many calls again as there are permits, for ten windows from the start of one on.
      const gapMs = 1000 / 30;
      const steps = Array.from({ length: 10 * 30 * replicas }, (_, i) => {
        const round = Math.floor(i / replicas);
        const afterMs = i % replicas === 0 ? Math.floor(round * gapMs) : undefined;
        return { atMs: afterMs, replica: i, cost: 1 };
      });
      let nowMs = 0;
      const even = steps.map(({ atMs = nowMs, replica, cost }) => {
        const afterMs = atMs - nowMs;
        nowMs = atMs;
        return { afterMs, replica, cost };
      });
      const used = admitted(policy, replicas, even).length;
      expect(used).toBeGreaterThanOrEqual(0.95 * 10 * policy.limit);
    }
  });

  it('are the policy itself where one replica has it all', () => {
    const policy = parsePolicy('p', { algorithm, limit: 7, window: '1s' }, '');
    expect(shareOf(policy, 1)).toBe(policy);
  });

  it('have one permit at least, and none of a limit of 0', () => {
    const few = parsePolicy('p', { algorithm, limit: 3, window: '1s' }, '');
    expect(shareOf(few, 5).burst).toBe(1);
    const none = parsePolicy('p', { algorithm, limit: 0, window: '1s' }, '');
    expect(shareOf(none, 5)).toMatchObject({ burst: 0, limit: 0 });
    const clock = new ManualClock();
    expect(memoryStore({ clock }).tryConsume(shareOf(none, 5), 'k', 1).allowed).toBe(false);
  });

  it('stay within exact integers', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 1, max: 31_536_000_000 }),
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        (replicas, window, wanted) => {
          const most = Math.floor(MAX_AMOUNT / window / (algorithm === 'sliding-window' ? 2 : 1));
          const limit = Math.min(wanted, most, algorithm === 'sliding-log' ? 10_000 : most);
          const policy = parsePolicy('p', { algorithm, limit, window }, '');
          const share = shareOf(policy, replicas);
          for (const value of [share.burst, share.limit, share.windowMs, share.overdraft]) {
            expect(Number.isSafeInteger(value)).toBe(true);
          }
          const amount = (share.burst + share.overdraft) * share.windowMs;
          expect(amount).toBeLessThanOrEqual(MAX_AMOUNT);
        },
      ),
      fuzzRuns(),
    );
  });
});

describe('a share of', () => {
  const shareOfOptions = (options: Parameters<typeof parsePolicy>[1], replicas: number) =>
    shareOf(parsePolicy('p', options, ''), replicas);

  it('a bucket refills exactly its part of the rate, though its burst is rounded down', () => {
    const share = shareOfOptions({ limit: 10, burst: 8, window: '1s', overdraft: 7 }, 3);
    expect(share).toMatchObject({ limit: 10, windowMs: 3000, burst: 2, overdraft: 2 });
  });

  it('a window leaves unused what does not divide evenly', () => {
    const share = shareOfOptions({ algorithm: 'fixed-window', limit: 10, window: '1s' }, 3);
    expect(share).toMatchObject({ limit: 3, windowMs: 1000, burst: 3 });
  });

  it('a policy keeps its name, its algorithm, its mode and whether it is shadow', () => {
    const options = { limit: 10, window: '1s', shadow: true, fallback: 'open' } as const;
    expect(shareOfOptions(options, 3)).toMatchObject({
      name: 'p',
      algorithm: 'token-bucket',
      shadow: true,
      fallback: 'open',
    });
  });
});
