import { ExactBucket } from './exact-bucket.js';
import { type Fleet, LEASE_MS, type World } from './fleet.js';
import type { Link } from './network.js';

/**
 * Leasing as it is usually told: a replica claims a batch of permits from an exact bucket, spends
 * them from memory for `LEASE_MS`, and claims the next batch when it has none left. What a bucket
 * does not have it does not grant; the requests that are left over are denied, and the next one
 * asks again. Leased permits may be spent after the bucket has refilled.
 */
export function usualFleet({ scenario, network, tally }: World): Fleet {
  const bucket = new ExactBucket(scenario);
  const { timeline } = network;
  const replicas = new Map<number, UsualReplica>();

  function claim(replica: UsualReplica): void {
    replica.asking = true;
    const waitedFor = replica.waiting;
    const asked = Math.max(scenario.usualBatch, waitedFor);
    replica.link.toStore(() => {
      const decidedAtMs = Math.floor(timeline.nowMs);
      const granted = bucket.take(asked, decidedAtMs);
      replica.link.toReplica(() => {
        if (replica.crashed) return undefined;
        settle(replica, granted, waitedFor, decidedAtMs);
        return undefined;
      });
      return undefined;
    });
  }

  /** The first `waitedFor` of the waiting requests were decided with the claim. */
  function settle(
    replica: UsualReplica,
    granted: number,
    waitedFor: number,
    decidedAtMs: number,
  ): void {
    const { nowMs } = timeline;
    const admitted = Math.min(granted, replica.waiting);
    for (let i = 0; i < admitted; i++) tally.admit(i < waitedFor ? decidedAtMs : nowMs, nowMs);
    tally.denied += replica.waiting - admitted;
    replica.permits = granted - admitted;
    replica.deadlineMs = nowMs + LEASE_MS;
    replica.waiting = 0;
    replica.asking = false;
  }

  return {
    request(index) {
      let replica = replicas.get(index);
      if (replica === undefined) {
        replica = new UsualReplica(network.connect());
        replicas.set(index, replica);
      }
      const { nowMs } = timeline;
      if (replica.permits > 0 && nowMs < replica.deadlineMs) {
        replica.permits--;
        tally.local++;
        tally.admit(nowMs, nowMs);
        return undefined;
      }
      replica.waiting++;
      if (!replica.asking) claim(replica);
      return undefined;
    },
    crash(index) {
      const replica = replicas.get(index);
      if (replica !== undefined) replica.crashed = true;
      replicas.delete(index);
    },
    async close() {},
  };
}

class UsualReplica {
  readonly link: Link;
  permits = 0;
  deadlineMs = 0;
  /** Requests that wait for the claim under way. */
  waiting = 0;
  asking = false;
  crashed = false;

  constructor(link: Link) {
    this.link = link;
  }
}
