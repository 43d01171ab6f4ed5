import type { FallbackOptions } from '@rl/core';

/**
 * For limiters whose store is expected to decide, on however busy a machine. They do not make
 * themselves known to it either.
 */
export const PATIENT: FallbackOptions = { deadline: '10s', replicas: 1 };
