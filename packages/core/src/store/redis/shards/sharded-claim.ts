import type { Decision } from '../../../decision/decision.js';
import type { Clock } from '../../../time/clock.js';
import type { Claim, Grant, LeaseReport } from '../../store.js';
import type { ShardedBucket } from './sharded-bucket.js';
import type { SubBuckets } from './sub-buckets.js';
import { markTaken } from './taken-from.js';

/*
 * Leases of a sharded bucket. Each sub-bucket has epochs of its own; to replicas epoch e of sub-bucket
 * i of n is e × n + i, so that a report finds the one it is of. Epochs are named by the time, so that
 * stays far below 2^53.
 */

/**
 * Claims permits of one sub-bucket, where most is believed to be left. What is told of others goes out
 * in the same turn, as claims of nothing: told once, whether it is heard or not. A cost that the
 * sub-bucket has no room for is decided by all, as any call is.
 *
 * @returns undefined where the sub-bucket has heard that claim before
 */
export async function claimOf(
  bucket: ShardedBucket,
  key: string,
  claim: Claim,
  store: SubBuckets,
  clock: Clock,
): Promise<Grant | undefined> {
  const { spread } = bucket;
  const { parts } = spread;
  const count = parts.length;
  const sentAtMs = clock.nowMs();
  const told = reportsByIndex(claim.reports, count);
  const wants = claim.costs.length > 0 || claim.extra > 0;
  const [first = 0] = told.keys();
  const index = wants ? spread.fullestToLease(sentAtMs) : first;
  const ask = async (of: number, costs: readonly number[], extra: number) => {
    const reports = told.get(of) ?? [];
    const policy = parts[of] as (typeof parts)[number];
    spread.asked(of, sentAtMs);
    try {
      const grant = await store.claim({ ...claim, policy, key, reports, costs, extra });
      if (grant !== undefined) spread.note(of, grant.left, 0, sentAtMs, clock.nowMs());
      else spread.answered(of);
      return grant;
    } catch (error) {
      // The next claim is to be of one that does answer.
      spread.leave(of, clock.nowMs());
      throw error;
    }
  };
  // Those first: what is returned elsewhere is there for costs that this one has no room for.
  for (const other of told.keys()) if (other !== index) ask(other, [], 0).catch(() => undefined);
  const grant = await ask(index, claim.costs, claim.extra);
  if (grant === undefined) return undefined;
  const decisions = await decideAll(bucket, index, claim.costs, grant.decisions, clock);
  if (grant.permits < claim.extra) await bucket.lookAtUnheard();
  const decidedAtMs = markTaken(grant.left.decidedAtMs, index);
  return {
    decisions,
    permits: grant.permits,
    epoch: grant.epoch * count + index,
    lifeMs: grant.lifeMs,
    left: spread.decide(true, 0, index, decidedAtMs, clock.nowMs()),
  };
}

/** What the sub-bucket allowed is allowed; on the rest all decide. */
function decideAll(
  bucket: ShardedBucket,
  index: number,
  costs: readonly number[],
  decisions: readonly Decision[],
  clock: Clock,
): Promise<Decision[]> {
  const { spread } = bucket;
  const decided = decisions.map((decision, i) => {
    const cost = costs[i] as number;
    if (!decision.allowed) return bucket.consume(cost);
    const decidedAtMs = markTaken(decision.decidedAtMs, index);
    return spread.decide(true, cost, index, decidedAtMs, clock.nowMs());
  });
  return Promise.all(decided);
}

function reportsByIndex(
  reports: readonly LeaseReport[],
  count: number,
): ReadonlyMap<number, LeaseReport[]> {
  const told = new Map<number, LeaseReport[]>();
  for (const { epoch, spent, returned } of reports) {
    const index = epoch % count;
    const report = { epoch: (epoch - index) / count, spent, returned };
    told.set(index, [...(told.get(index) ?? []), report]);
  }
  return told;
}
