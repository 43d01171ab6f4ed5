import type { Algorithm, Policy } from '../../src/policy/policy.js';
import type { Line } from './journal.js';

/*
 * What may be admitted by a policy, as rules over a journal that know nothing of leases. Each gives
 * the first line that it forbids, and why.
 *
 * A refund counts from when the store had it: until then the permits are spent.
 */

type Law = (policy: Policy, lines: readonly Line[]) => string | undefined;

/** Over every interval: admitted ≤ burst + rate × its length. One exact bucket finds the worst. */
function withinCurve({ burst, limit, windowMs }: Policy, lines: readonly Line[]) {
  const full = burst * windowMs;
  let level = full;
  let sinceMs = lines[0]?.atMs ?? 0;
  for (const line of lines) {
    if (line.did === 'showed') continue;
    level = Math.min(full, level + (line.atMs - sinceMs) * limit);
    sinceMs = line.atMs;
    if (line.did === 'refunded') level = Math.min(full, level + line.permits * windowMs);
    else level -= line.permits * windowMs;
    if (level < 0) return `${-level / windowMs} permits too many: ${show(line)}`;
  }
  return undefined;
}

/**
 * What is spent in a window of the store stays within its count there, and a window begins anew
 * only where nothing is spent in it.
 */
function withinWindow({ windowMs }: Policy, lines: readonly Line[]) {
  let spent = 0;
  let count = 0;
  let endsAtMs = Number.NEGATIVE_INFINITY;
  for (const line of lines) {
    if (line.did === 'showed') {
      const sameWindow = line.count > 0 && line.endsAtMs === endsAtMs;
      if (!sameWindow && line.atMs < endsAtMs && spent > 0) return `forgot ${spent}: ${show(line)}`;
      if (!sameWindow) {
        spent = 0;
        endsAtMs = line.count > 0 ? line.endsAtMs : Number.NEGATIVE_INFINITY;
      }
      count = line.count;
    } else if (line.did === 'admitted') {
      if (line.atMs >= endsAtMs) return `spent after its window: ${show(line)}`;
      spent += line.permits;
    } else if (line.takenAtMs >= endsAtMs - windowMs && line.atMs < endsAtMs) {
      spent -= line.permits;
      continue;
    }
    if (spent > count && line.atMs < endsAtMs) return `${spent} spent of ${count}: ${show(line)}`;
  }
  return undefined;
}

/** What is admitted fits the two counters of what was admitted before. */
function withinTwoWindows({ limit, windowMs }: Policy, lines: readonly Line[]) {
  const spent = new Map<number, number>();
  const spentIn = (window: number) => spent.get(window) ?? 0;
  for (const line of lines) {
    if (line.did === 'showed') continue;
    const atMs = line.did === 'refunded' ? line.takenAtMs : line.atMs;
    const window = Math.floor(atMs / windowMs);
    const change = line.did === 'refunded' ? -line.permits : line.permits;
    spent.set(window, spentIn(window) + change);
    if (line.did === 'refunded') continue;
    const covered = windowMs - (atMs % windowMs);
    const units = spentIn(window - 1) * covered + spentIn(window) * windowMs;
    if (units > limit * windowMs) return `${units / windowMs} spent of ${limit}: ${show(line)}`;
  }
  return undefined;
}

export const LAWS: { readonly [A in Algorithm]?: Law } = {
  'token-bucket': withinCurve,
  'fixed-window': withinWindow,
  'sliding-window': withinTwoWindows,
};

function show(line: Line): string {
  return JSON.stringify(line);
}
