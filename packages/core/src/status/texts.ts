import type { Outcome } from '../metrics/limiter-metrics.js';
import type { TopKey } from '../metrics/top-keys.js';
import type { LimiterFacts, PolicyFacts, StatusFacts, StoreFacts } from './facts.js';
import { figure, permits, share, span } from './figures.js';

/** What the page shows of facts, by the name of its place there: the script puts it in as it stands. */
export interface StatusTexts {
  readonly texts: Readonly<Record<string, string>>;
  /** The rows of a table. */
  readonly rows: Readonly<Record<string, readonly (readonly string[])[]>>;
}

/** The columns of decisions, and what they are called. */
export const OUTCOME_NAMES: readonly (readonly [Outcome, string])[] = [
  ['allowed', 'Allowed'],
  ['denied', 'Denied'],
  ['shadow_denied', 'Would be denied'],
  ['fallback_allowed', 'Fallback allowed'],
  ['fallback_denied', 'Fallback denied'],
];

export function textsOf(facts: StatusFacts): StatusTexts {
  const texts: Record<string, string> = { replica: facts.replica };
  const rows: Record<string, string[][]> = {};
  for (const [n, limiter] of facts.limiters.entries()) {
    Object.assign(texts, under(`${n}`, limiterTexts(limiter)));
    for (const [i, policy] of limiter.policies.entries()) {
      Object.assign(texts, under(`${n}.${i}`, policyTexts(policy)));
      const { top } = policy;
      if (top === undefined) continue;
      texts[`${n}.${i}.covers`] = span(top.coversMs);
      rows[`${n}.${i}.denied`] = top.denied.map(keyRow);
      rows[`${n}.${i}.busiest`] = top.busiest.map(keyRow);
    }
  }
  return { texts, rows };
}

function under(place: string, texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [`${place}.${name}`, text]),
  );
}

function limiterTexts({ store, leases }: LimiterFacts): Record<string, string> {
  const texts = {
    state: store.state,
    places: placesOf(store),
    replicas: figure(store.replicas),
    owed: figure(store.owed),
    forgotten: permits(store.forgotten),
    p50: latency(store.p50Ms),
    p99: latency(store.p99Ms),
    answers: figure(store.answers),
    errors:
      Object.entries(store.errors)
        .map(([kind, count]) => `${kind} ${figure(count)}`)
        .join(', ') || 'none',
  };
  if (leases === undefined) return texts;
  return {
    ...texts,
    claims: figure(leases.claims),
    granted: figure(leases.granted),
    returned: figure(leases.returned),
    writtenOff: figure(leases.writtenOff),
  };
}

/** `5 up`; those that are not, by name. */
function placesOf({ places }: StoreFacts): string {
  const all = Object.entries(places);
  if (all.length === 0) return '';
  const troubled = all.filter(([, state]) => state !== 'up');
  const names = troubled.map(([name, state]) => `${name} ${state}`);
  return [`${all.length - troubled.length} up`, ...names].join(', ');
}

function latency(ms: number | undefined): string {
  if (ms === undefined) return 'none yet';
  return Number.isFinite(ms) ? `≤ ${span(ms)}` : '> 1 s';
}

function policyTexts({ outcomes, origins, total }: PolicyFacts): Record<string, string> {
  const shares = Object.entries(origins)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([origin, count]) => `${origin} ${share(count, total)}`);
  const counts = OUTCOME_NAMES.map(([outcome]) => [
    outcome,
    outcomes === undefined ? 'not counted' : figure(outcomes[outcome] ?? 0),
  ]);
  return { ...Object.fromEntries(counts), origins: shares.join(', ') || '–' };
}

function keyRow({ key, count, error }: TopKey): string[] {
  return [key, error === 0 ? figure(count) : `${figure(count)} (−${figure(error)})`];
}
