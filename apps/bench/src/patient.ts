import type { FallbackOptions } from '@rl/core';

/**
 * For each of our limiters on a store that is elsewhere: it decides by that store, on however busy a
 * machine, and sends it nothing besides. So what is measured is the same work every time.
 */
export const PATIENT: FallbackOptions = { deadline: '1s', replicas: 1 };
