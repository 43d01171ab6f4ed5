import { invalidType, invalidValue } from '../errors.js';

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ...['ms', 'millisecond', 'milliseconds'].map((unit) => [unit, 1] as const),
  ...['s', 'sec', 'second', 'seconds'].map((unit) => [unit, 1000] as const),
  ...['m', 'min', 'minute', 'minutes'].map((unit) => [unit, 60_000] as const),
  ...['h', 'hour', 'hours'].map((unit) => [unit, 3_600_000] as const),
  ...['d', 'day', 'days'].map((unit) => [unit, 86_400_000] as const),
  ...['w', 'week', 'weeks'].map((unit) => [unit, 604_800_000] as const),
]);

const EXPECTED =
  'a whole number of milliseconds above 0, or a text like "500ms", "10s", "1 minute", "1.5h", "30d"';

/**
 * Milliseconds of a duration as users write it: a number of milliseconds, or a decimal number and
 * a unit (ms, s, m, h, d, w, or the English word), with or without a space between.
 *
 * The result is a whole number of at least 1: `"1.5h"` is 5,400,000, while `"0.5ms"`, `"5x"`,
 * `"60"` and `""` throw. Nothing is rounded and no unit is assumed.
 *
 * @param field what the error calls the value
 */
export function parseDuration(field: string, value: unknown): number {
  if (typeof value !== 'number' && typeof value !== 'string') {
    throw invalidType(field, EXPECTED, value);
  }
  const ms = typeof value === 'number' ? value : textToMs(value);
  if (!Number.isSafeInteger(ms) || ms < 1) throw invalidValue(field, EXPECTED, value);
  return ms;
}

/** NaN where the text is not a duration. */
function textToMs(text: string): number {
  const parts = /^(\d{1,16})(?:\.(\d{1,9}))? ?([a-z]+)$/.exec(text);
  const unitMs = UNIT_MS.get(parts?.[3] ?? '');
  if (parts === null || unitMs === undefined) return Number.NaN;
  const fraction = parts[2] ?? '';
  // Scaled to integers first: 1.1 s is 1100 ms, not 1100.0000000000002.
  const scale = 10 ** fraction.length;
  const scaled = (Number(parts[1]) * scale + Number(fraction || '0')) * unitMs;
  return Number.isSafeInteger(scaled) ? scaled / scale : Number.NaN;
}

/** The shortest text that `parseDuration` reads as `ms`: 90,000 is `"90s"`, 60,000 is `"1m"`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const unitMs = UNIT_MS.get(unit) as number;
    if (ms >= unitMs && ms % unitMs === 0) return `${ms / unitMs}${unit}`;
  }
  return `${ms}ms`;
}
