import { LEASE_CORNER_BEHAVIOURS } from './behaviours-lease-corners.js';
import { LEASE_COST_BEHAVIOURS } from './behaviours-lease-costs.js';
import { LEASE_GRANT_BEHAVIOURS } from './behaviours-lease-grants.js';
import { LEASE_POLICY_BEHAVIOURS } from './behaviours-lease-policies.js';
import { LEASE_REPORT_BEHAVIOURS } from './behaviours-lease-reports.js';
import { LEASE_TIME_BEHAVIOURS } from './behaviours-lease-time.js';
import { LEASE_TWICE_BEHAVIOURS } from './behaviours-lease-twice.js';
import { LEASE_WINDOW_BEHAVIOURS } from './behaviours-lease-windows.js';
import type { Behaviour } from './contract-test.js';

/** Permits that replicas hold in advance. */
export const LEASE_BEHAVIOURS: readonly Behaviour[] = [
  ...LEASE_GRANT_BEHAVIOURS,
  ...LEASE_COST_BEHAVIOURS,
  ...LEASE_REPORT_BEHAVIOURS,
  ...LEASE_TWICE_BEHAVIOURS,
  ...LEASE_TIME_BEHAVIOURS,
  ...LEASE_WINDOW_BEHAVIOURS,
  ...LEASE_POLICY_BEHAVIOURS,
  ...LEASE_CORNER_BEHAVIOURS,
];
