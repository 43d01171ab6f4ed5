import type { Policy } from '../policy/policy.js';
import { formatDuration } from '../time/duration.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `1,204`. */
export function figure(count: number): string {
  return count.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** `1,000 per 1m`. */
export function quota({ limit, windowMs }: Policy): string {
  return `${figure(limit)} per ${formatDuration(windowMs)}`;
}

/** How long ago something was, by the same clock; that it is yet to come is taken as now. */
export function ago(atMs: number, nowMs: number): string {
  return `${span(Math.max(0, nowMs - atMs))} ago`;
}

/** `1 permit`, `1,204 permits`. */
export function permits(count: number): string {
  return `${figure(count)} ${count === 1 ? 'permit' : 'permits'}`;
}

/** A time as people say it, rounded up: `320 ms`, `3.2 s`, `2 min 5 s`, `3 h 20 min`. */
export function span(ms: number): string {
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`;
  if (ms < MINUTE_MS) return `${Math.ceil(ms / 100) / 10} s`;
  if (ms < HOUR_MS) return twoUnits(ms, MINUTE_MS, 'min', 1000, 's');
  if (ms < DAY_MS) return twoUnits(ms, HOUR_MS, 'h', MINUTE_MS, 'min');
  return twoUnits(ms, DAY_MS, 'd', HOUR_MS, 'h');
}

function twoUnits(ms: number, bigMs: number, big: string, smallMs: number, small: string): string {
  const smalls = Math.ceil(ms / smallMs);
  const ratio = bigMs / smallMs;
  const rest = smalls % ratio;
  return `${Math.floor(smalls / ratio)} ${big}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

/** `80 %`; what is there at all is at least `<1 %`. */
export function share(part: number, whole: number): string {
  const percent = (part / whole) * 100;
  return percent < 1 ? '<1 %' : `${Math.floor(percent)} %`;
}
