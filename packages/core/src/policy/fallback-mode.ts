/**
 * What becomes of calls while the store cannot answer. `local`: each replica decides by its share of
 * the quota, in memory. `open`: all are allowed. `closed`: all are denied.
 */
export const FALLBACK_MODES = ['local', 'open', 'closed'] as const;
export type FallbackMode = (typeof FALLBACK_MODES)[number];
