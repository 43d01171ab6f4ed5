import type { AnyRegistry } from '../../src/index.js';
import { parseExposition } from './exposition.js';

/** All series of a real scrape, by what is written before the value. */
export async function scrape(registry: AnyRegistry): Promise<Record<string, number>> {
  const families = parseExposition(await registry.metrics());
  return Object.fromEntries([...families.values()].flatMap(({ series }) => [...series]));
}

/** The same, of one policy's decisions that occurred: `denied store` is 2. */
export async function decisions(
  registry: AnyRegistry,
  policy: string,
  keyClass = 'default',
): Promise<Record<string, number>> {
  const start = `ratelimit_decisions_total{policy="${policy}",key_class="${keyClass}",outcome=`;
  const occurred = Object.entries(await scrape(registry)).filter(
    ([series, value]) => series.startsWith(start) && value > 0,
  );
  return Object.fromEntries(
    occurred.map(([series, value]) => {
      const [, outcome, origin] = /outcome="(\w+)",origin="(\w+)"/.exec(series) ?? [];
      return [`${outcome} ${origin}`, value];
    }),
  );
}
