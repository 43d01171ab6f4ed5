import type { OpenRun } from '../http-load/open-loop.js';
import { formatNumber } from '../report.js';
import type { Table } from '../scenario.js';
import { significant } from '../statistics.js';

/** What all replicas together may admit. */
export interface Quota {
  readonly limit: number;
  readonly windowMs: number;
  readonly burst: number;
}

/** What others have used during a run. */
export interface FleetCost {
  readonly storeCalls: number;
  /** CPU time, user and system. */
  readonly replicasCpuUs: number;
  readonly loadCpuUs: number;
  readonly redisCpuUs: number;
}

/** The JSON of a run. Counts are of requests. */
export interface FleetFigures {
  readonly offered: number;
  readonly offeredPerSecond: number;
  /** The longest that a request was due and not sent. */
  readonly mostLateMs: number;
  readonly answered: number;
  /** Answered with 200. */
  readonly admitted: number;
  /** Answered with 429. */
  readonly denied: number;
  /** Answered with another status, or not at all. */
  readonly failed: number;
  /** From the first request sent to the last answer received. */
  readonly seconds: number;
  /** What the policy admits in that time when it begins with a full bucket. */
  readonly quotaTotal: number;
  readonly admittedVsQuota: number;
  /** Admitted above `quotaTotal`; 0 where it was not reached. */
  readonly overshoot: number;
  readonly storeCalls: number;
  readonly callsPerRequest: number;
  /** Cores that were busy, on the average. */
  readonly cores: { readonly replicas: number; readonly load: number; readonly redis: number };
}

export function fleetFigures(run: OpenRun, quota: Quota, cost: FleetCost): FleetFigures {
  const { offered, answered, byStatus, elapsedMs } = run;
  const admitted = byStatus.get(200) ?? 0;
  const denied = byStatus.get(429) ?? 0;
  const quotaTotal = (quota.limit * elapsedMs) / quota.windowMs + quota.burst;
  const cores = (cpuUs: number): number => significant(cpuUs / 1000 / elapsedMs);
  return {
    offered,
    offeredPerSecond: Math.round(run.offeredPerSecond),
    mostLateMs: significant(run.mostLateMs),
    answered,
    admitted,
    denied,
    failed: offered - admitted - denied,
    seconds: significant(elapsedMs / 1000),
    quotaTotal: Math.floor(quotaTotal),
    admittedVsQuota: significant(admitted / quotaTotal),
    overshoot: Math.max(0, admitted - Math.floor(quotaTotal)),
    storeCalls: cost.storeCalls,
    callsPerRequest: significant(cost.storeCalls / offered),
    cores: {
      replicas: cores(cost.replicasCpuUs),
      load: cores(cost.loadCpuUs),
      redis: cores(cost.redisCpuUs),
    },
  };
}

/** The same for readers. */
export function fleetTable(figures: FleetFigures, replicas: number, { limit }: Quota): Table {
  const { offered, admitted, denied, failed, quotaTotal, overshoot, storeCalls, cores } = figures;
  const share = (count: number): string => `${((100 * count) / offered).toFixed(1)} %`;
  return {
    title:
      `lease-http: ${replicas} replicas, one quota of ${formatNumber(limit)} a second, ` +
      `${formatNumber(figures.offeredPerSecond)} requests a second offered for ` +
      `${figures.seconds.toFixed(1)} s`,
    header: ['requests', 'number', 'of those offered'],
    rows: [
      ['offered', formatNumber(offered), share(offered)],
      ['admitted', formatNumber(admitted), share(admitted)],
      ['denied', formatNumber(denied), share(denied)],
      ['failed', formatNumber(failed), share(failed)],
      ['calls of the store', formatNumber(storeCalls), share(storeCalls)],
    ],
    notes: [
      `The quota was ${formatNumber(quotaTotal)}: ${(100 * figures.admittedVsQuota).toFixed(2)} % ` +
        `of it were admitted, ${formatNumber(overshoot)} above it.`,
      `Cores that were busy: ${cores.replicas.toFixed(2)} with the replicas, ` +
        `${cores.load.toFixed(2)} with the load, ${cores.redis.toFixed(2)} with Redis. ` +
        `A request was sent ${figures.mostLateMs.toFixed(1)} ms late at the most.`,
    ],
  };
}
