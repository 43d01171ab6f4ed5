import type { Run } from './algorithm-runs.mjs';

export function picture(run: Run): string;
