import { expect, test } from 'vitest';
import type { OpenRun } from '../src/http-load/open-loop.js';
import { fleetFigures, fleetTable } from '../src/scenarios/lease-http-report.js';

const quota = { limit: 100, windowMs: 1000, burst: 50 };
const cost = { storeCalls: 25, replicasCpuUs: 1_000_000, loadCpuUs: 500_000, redisCpuUs: 20_000 };

const run = (admitted: number): OpenRun => ({
  offered: 500,
  offeredPerSecond: 250.4,
  byStatus: new Map([
    [200, admitted],
    [429, 200],
    [500, 1],
  ]),
  answered: admitted + 201,
  elapsedMs: 2000,
  mostLateMs: 3,
});

test('a run is held against what the policy admits in its time from a full bucket', () => {
  expect(fleetFigures(run(245), quota, cost)).toEqual({
    offered: 500,
    offeredPerSecond: 250,
    mostLateMs: 3,
    answered: 446,
    admitted: 245,
    denied: 200,
    // One was answered with 500, and 54 were not.
    failed: 55,
    seconds: 2,
    quotaTotal: 250,
    admittedVsQuota: 0.98,
    overshoot: 0,
    storeCalls: 25,
    callsPerRequest: 0.05,
    cores: { replicas: 0.5, load: 0.25, redis: 0.01 },
  });
});

test('what is admitted above it is overshoot, and readers are told', () => {
  const figures = fleetFigures(run(253), quota, cost);
  expect(figures).toMatchObject({ admittedVsQuota: 1.012, overshoot: 3 });
  const [note] = fleetTable(figures, 8, quota).notes;
  expect(note).toContain('101.20 % of it were admitted, 3 above it');
});
