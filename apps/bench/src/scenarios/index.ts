import type { Scenario } from '../scenario.js';
import { cluster } from './cluster.js';
import { exact } from './exact.js';
import { hotKey } from './hot-key.js';
import { leaseCpu } from './lease-cpu.js';
import { leaseHttp } from './lease-http.js';
import { leaseLocal } from './lease-local.js';
import { local } from './local.js';
import { metrics } from './metrics.js';
import { redis } from './redis.js';

/** All of them, in the order they run; the last ones on request. */
export const SCENARIOS: readonly Scenario[] = [
  exact,
  local,
  redis,
  leaseLocal,
  leaseCpu,
  leaseHttp,
  metrics,
  cluster,
  hotKey,
];
