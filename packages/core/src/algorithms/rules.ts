import type { Algorithm } from '../policy/policy.js';
import type { AnyRules } from './algorithm.js';
import { fixedWindow } from './fixed-window.js';
import { gcra } from './gcra.js';
import { slidingLog } from './sliding-log.js';
import { slidingWindow } from './sliding-window.js';
import { tokenBucket } from './token-bucket.js';

/** The rules of every algorithm. */
export const RULES: Readonly<Record<Algorithm, AnyRules>> = {
  'token-bucket': tokenBucket as unknown as AnyRules,
  gcra: gcra as unknown as AnyRules,
  'fixed-window': fixedWindow as unknown as AnyRules,
  'sliding-window': slidingWindow as unknown as AnyRules,
  'sliding-log': slidingLog as unknown as AnyRules,
};
