import type { FallbackOptions } from '../../src/fallback/options.js';

/**
 * For limiters whose store decides, on however busy a machine: none of its answers is late, and no
 * replica makes itself known meanwhile.
 */
export const PATIENT: FallbackOptions = { deadline: '1m', replicas: 1 };
