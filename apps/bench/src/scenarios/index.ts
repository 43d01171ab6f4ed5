import type { Scenario } from '../scenario.js';
import { exact } from './exact.js';
import { leaseCpu } from './lease-cpu.js';
import { leaseHttp } from './lease-http.js';
import { leaseLocal } from './lease-local.js';
import { local } from './local.js';
import { redis } from './redis.js';

/** All of them, in the order they run. */
export const SCENARIOS: readonly Scenario[] = [
  exact,
  local,
  redis,
  leaseLocal,
  leaseCpu,
  leaseHttp,
];
