import type { Comparison } from './compare.js';
import { LEASE_MS } from './fleet.js';
import { percent } from './percent.js';
import { BASE, type FleetScenario } from './scenarios.js';
import type { FleetFigures } from './simulate.js';

const BEGIN = '<!-- figures: npm run bench:leases -- --write -->';
const END = '<!-- /figures -->';

const HEADER = ['ours / usual', 'overshoot', 'use', 'calls per request', 'answered locally'];

/** The cells of one row of the page's table. */
export function pageRow({ scenario, ours, usual }: Comparison): readonly string[] {
  const both = (of: (figures: FleetFigures) => number): string =>
    `${percent(of(ours))} / ${percent(of(usual))}`;
  return [
    `${scenario.title}, ${scenario.detail}`,
    both((figures) => figures.overshootAtStore),
    both((figures) => figures.use),
    both((figures) => figures.callsPerRequest),
    both((figures) => figures.local),
  ];
}

/** What a scenario is where its title and detail do not say otherwise. */
export function parameters(seed: number): string {
  const { replicas, limitPerSecond, burst, roundTripMs } = BASE;
  return `${replicas} replicas, quota ${limitPerSecond}/s, burst ${burst}, round trip ${roundTripMs} ms, ttl ${LEASE_MS / 1000} s, seed ${seed}`;
}

/** The table and what has to be known to read it, as Markdown that the formatter leaves alone. */
export function figures(comparisons: readonly Comparison[], seed: number): string {
  const scenarios = comparisons.map(({ scenario }) => scenario);
  const seconds = scenarios.map(({ durationMs }) => durationMs / 1000);
  return `${markdownTable([HEADER, ...comparisons.map(pageRow)])}

Where a row does not say otherwise: ${parameters(seed)}.
Requests come at random (Poisson), for ${Math.min(...seconds)} to ${Math.max(...seconds)} s.
The usual leasing claims ${batches(scenarios)}.
`;
}

/**
 * The page with these figures between its markers; all else is left as it is.
 * @throws Error where it does not have each marker once, in their order
 */
export function withFigures(page: string, figures: string): string {
  const [before, afterBegin, ...moreBegins] = page.split(BEGIN);
  const [, afterEnd, ...moreEnds] = (afterBegin ?? '').split(END);
  const isOnce = moreBegins.length === 0 && moreEnds.length === 0 && !before?.includes(END);
  if (afterEnd === undefined || !isOnce) {
    throw new Error(`the page must have one line ${BEGIN} and one line ${END} after it`);
  }
  return `${before}${BEGIN}\n\n${figures}\n${END}${afterEnd}`;
}

/** A page of nothing but the place for the figures. */
export const EMPTY_PAGE: string = `${BEGIN}\n${END}\n`;

/** The first column to the left, the others to the right, all padded. */
function markdownTable(lines: readonly (readonly string[])[]): string {
  const widths = HEADER.map((_, column) =>
    Math.max(...lines.map((cells) => (cells[column] as string).length)),
  );
  const rendered = lines.map((cells) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))),
  );
  const rule = widths.map((width, i) =>
    i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [rendered[0] as string[], rule, ...rendered.slice(1)]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** How many permits at once, and in which scenarios other than the base. */
function batches(scenarios: readonly FleetScenario[]): string {
  const titlesOf = new Map<number, Set<string>>();
  for (const { usualBatch, title } of scenarios) {
    if (usualBatch === BASE.usualBatch) continue;
    titlesOf.set(usualBatch, (titlesOf.get(usualBatch) ?? new Set()).add(title));
  }
  const others = [...titlesOf].map(
    ([batch, titles]) => `, ${batch} for ${[...titles].join(' and ')}`,
  );
  return `${BASE.usualBatch} permits at a time${others.join('')}`;
}
