import type { Scenario } from '../scenario.js';
import { exact } from './exact.js';
import { local } from './local.js';
import { redis } from './redis.js';

/** All of them, in the order they run. */
export const SCENARIOS: readonly Scenario[] = [exact, local, redis];
