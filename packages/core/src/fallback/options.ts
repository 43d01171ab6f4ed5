import { checkInteger } from '../arith/integers.js';
import { checkOptionNames, invalidType, invalidValue, show } from '../errors.js';
import { FALLBACK_MODES, type FallbackMode } from '../policy/fallback-mode.js';
import { formatDuration, parseDuration } from '../time/duration.js';
import type { StoreEvent } from './events.js';

/** How many replicas share the quota: a number, or what gives one, at once or later. */
export type Replicas = number | (() => number | Promise<number>);

/** What a limiter does while its store cannot answer. */
export interface FallbackOptions {
  /**
   * `"local"`: each replica decides by its share of the quota, in memory. `"open"`: all is allowed.
   * `"closed"`: all is denied, over HTTP with 503. A policy may have its own. Default `"local"`.
   */
  mode?: FallbackMode | undefined;
  /**
   * How long a decision may wait for the store: 1 ms to 1 minute, and longer than the store's `waitMs`.
   * Default 5 ms, and that. A stall of this process's event loop does not count against the store.
   */
  deadline?: number | string | undefined;
  /**
   * Among how many replicas the quota is divided: an integer of at least 1, or a function, which is
   * asked again and again in the background; its last good value is kept. Default: as many as the
   * store hears of, and 1 until it has said so once.
   */
  replicas?: Replicas | undefined;
  /**
   * Told of trouble with the store, and of its end. What it throws becomes a process warning. Where
   * it is left out, the first loss of a store becomes one.
   */
  onEvent?: ((event: StoreEvent) => void) | undefined;
}

/** The options after parsing. */
export interface FallbackTerms {
  readonly mode: FallbackMode;
  readonly deadlineMs: number;
  readonly replicas: Replicas | undefined;
  readonly onEvent: ((event: StoreEvent) => void) | undefined;
}

const DEADLINE_MS = 5;
const MAX_DEADLINE_MS = 60_000;

/**
 * @param options a text stands for its mode alone
 * @param waitMs of the store
 * @throws TypeError or RangeError that names the field and shows the value
 */
export function parseFallback(
  options: FallbackMode | FallbackOptions = {},
  waitMs: number = 0,
): FallbackTerms {
  if (typeof options === 'string') {
    return parseFallback({ mode: checkMode('fallback', options) }, waitMs);
  }
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const expected = `one of ${FALLBACK_MODES.map(show).join(', ')}, or an object such as { mode: "local" }`;
    throw invalidType('fallback', expected, options);
  }
  checkOptionNames('fallback', options, ['mode', 'deadline', 'replicas', 'onEvent']);
  checkInteger('store.waitMs', waitMs, 0, MAX_DEADLINE_MS - DEADLINE_MS);
  const { mode = 'local', deadline = DEADLINE_MS + waitMs, replicas, onEvent } = options;
  checkMode('fallback.mode', mode);
  const deadlineMs = parseDuration('fallback.deadline', deadline);
  if (deadlineMs > MAX_DEADLINE_MS) {
    throw invalidValue('fallback.deadline', `at most ${formatDuration(MAX_DEADLINE_MS)}`, deadline);
  }
  if (deadlineMs <= waitMs) {
    const expected = `above ${formatDuration(waitMs)}, the waitMs of the store`;
    throw invalidValue('fallback.deadline', expected, deadline);
  }
  if (replicas !== undefined && typeof replicas !== 'function') {
    checkInteger('fallback.replicas', replicas, 1);
  }
  if (onEvent !== undefined && typeof onEvent !== 'function') {
    throw invalidType('fallback.onEvent', 'a function', onEvent);
  }
  return { mode, deadlineMs, replicas, onEvent };
}

function checkMode(field: string, mode: FallbackMode): FallbackMode {
  if (FALLBACK_MODES.includes(mode)) return mode;
  throw invalidValue(field, `one of ${FALLBACK_MODES.map(show).join(', ')}`, mode);
}
