/**
 * What packages around the core check their own options with, so that their errors have a code,
 * name the field and show the value as the core's do.
 */
export { checkInteger } from '../arith/integers.js';
export { checkOptionNames, invalidType, invalidValue } from '../errors.js';
export { POLICY_OPTION_NAMES, parsePolicy } from '../policy/policy.js';
export { parseDuration } from '../time/duration.js';
