import type { Decision } from '../decision/decision.js';
import type { Charge } from '../store/store.js';

/**
 * The decision on a call under several policies: the one that binds, with all of them in `each`.
 *
 * Where some denied it is the one of them with the longest wait, since asking again earlier would
 * be denied once more; one that can never fit counts as longest. Where all allowed it is the one
 * with the fewest permits left. A shadow policy binds only where there is no other.
 *
 * @param decisions undefined where it is not known, as another one denied
 * @param charges what was asked, in the order of `decisions`
 */
export function strictest(
  decisions: readonly (Decision | undefined)[],
  charges: readonly Charge[],
): Decision {
  const each = decisions.filter((decision) => decision !== undefined);
  const enforced = decisions.filter(
    (decision, i) => decision !== undefined && !charges[i]?.policy.shadow,
  ) as Decision[];
  const candidates = enforced.length > 0 ? enforced : each;
  const binding = candidates.reduce((a, b) => (isStricter(b, a) ? b : a));
  return { ...binding, each };
}

function isStricter(a: Decision, b: Decision): boolean {
  if (a.allowed !== b.allowed) return !a.allowed;
  if (!a.allowed) return waitOf(a) > waitOf(b);
  return a.remaining < b.remaining;
}

function waitOf({ retryAfterMs }: Decision): number {
  return retryAfterMs ?? Number.POSITIVE_INFINITY;
}
