import type { Decision, Origin } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';
import type { DecisionCount, Outcome } from './limiter-metrics.js';

/** Most key classes of a policy that are counted apart: what metrics are labelled with is bounded. */
export const MAX_CLASSES = 32;

/** The key class that stands for all above that. */
export const OTHER_CLASSES = 'other';

/** Origins in the order of the counts, those of local decisions first; and what their counts are called. */
const ORIGINS: readonly Origin[] = ['lease', 'memory', 'store', 'fallback'];
const KINDS: readonly Outcome[] = ['allowed', 'denied', 'shadow_denied'];
const WITHOUT_STORE: readonly Outcome[] = ['fallback_allowed', 'fallback_denied', 'shadow_denied'];

/** The counts of one policy and key class. */
export type Counts = Float64Array;

/** How calls were decided, by policy and key class. To count one allocates nothing. */
export class DecisionCounts {
  readonly #byName = new Map<string, Map<string, Counts>>();

  /** Those of a policy, the same for all of its name and key class. */
  of({ name, keyClass }: Policy): Counts {
    const classes = this.#byName.get(name) ?? new Map<string, Counts>();
    this.#byName.set(name, classes);
    const isKnown = classes.has(keyClass) || classes.size < MAX_CLASSES;
    const label = isKnown ? keyClass : OTHER_CLASSES;
    const counts = classes.get(label) ?? new Float64Array(ORIGINS.length * KINDS.length);
    classes.set(label, counts);
    return counts;
  }

  read(): readonly DecisionCount[] {
    return [...this.#byName].flatMap(([policy, classes]) =>
      [...classes].flatMap(([keyClass, counts]) =>
        [...counts].map((count, i) => ({ policy, keyClass, ...labelsOf(i), count })),
      ),
    );
  }
}

/** From here on a decision denied the call, or would have. */
export const FIRST_DENIAL: number = ORIGINS.length;

/** Where a decision counts. */
export function indexOf({ origin, allowed, wouldDeny }: Decision): number {
  const place = origin === 'lease' ? 0 : origin === 'memory' ? 1 : origin === 'store' ? 2 : 3;
  if (!allowed) return FIRST_DENIAL + place;
  return wouldDeny ? 2 * FIRST_DENIAL + place : place;
}

function labelsOf(index: number): { outcome: Outcome; origin: Origin } {
  const origin = ORIGINS[index % ORIGINS.length] as Origin;
  const names = origin === 'fallback' ? WITHOUT_STORE : KINDS;
  return { outcome: names[Math.floor(index / ORIGINS.length)] as Outcome, origin };
}
