import { type Policy, parsePolicy } from '../policy/policy.js';

/**
 * What a lost store is tried with: it writes, as a store that can only be read is no use, and is
 * never denied. A bucket under this name lasts for some milliseconds.
 */
export const PROBE: Policy = parsePolicy('rl.probe', { limit: 1000, window: '1s' }, 'probe');
