/** What a scrape says of one name. */
export interface ScrapedFamily {
  readonly type: string;
  readonly help: string;
  /** By what is written before the value: `a_total{kind="x"}`. */
  readonly series: ReadonlyMap<string, number>;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const SAMPLE = new RegExp(`^((${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})?) (\\S+)$`);
const META = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`);

/** The names that the samples of a type may have, behind its own. */
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
};

/**
 * Reads the text format of Prometheus (version 0.0.4) strictly: each family has its HELP, its TYPE and
 * its samples together and once, no series is there twice, and histograms add up.
 * @throws Error with the line that breaks the format
 */
export function parseExposition(text: string): ReadonlyMap<string, ScrapedFamily> {
  const families = new Map<string, ScrapedFamily>();
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  let help: readonly [name: string, text: string] | undefined;
  let current: readonly [name: string, type: string, series: Map<string, number>] | undefined;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, kind, name = '', rest = ''] = META.exec(line) ?? [];
    if (kind === 'HELP') {
      if (families.has(name)) throw new Error(`twice: ${line}`);
      help = [name, rest];
      current = undefined;
    } else if (kind === 'TYPE') {
      if (help?.[0] !== name || !(rest in SUFFIXES)) throw new Error(`not after its HELP: ${line}`);
      current = [name, rest, new Map()];
      families.set(name, { type: rest, help: help[1], series: current[2] });
    } else {
      const [, series = '', own = '', , value = ''] = SAMPLE.exec(line) ?? [];
      const [family = '', type = '', known] = current ?? [];
      const isOwn = SUFFIXES[type]?.some((suffix) => own === family + suffix) ?? false;
      if (known === undefined || !isOwn || known.has(series)) throw new Error(`not here: ${line}`);
      const isNumber = /^-?\d+(\.\d+)?(e[+-]\d+)?$/.test(value);
      if (!isNumber || (type !== 'gauge' && Number(value) < 0)) throw new Error(`value: ${line}`);
      known.set(series, Number(value));
    }
  }
  for (const [name, { type, series }] of families) {
    if (type === 'histogram' && series.size > 0) checkHistogram(name, series);
    if ((type === 'counter') !== name.endsWith('_total')) throw new Error(`${name} is a ${type}`);
  }
  return families;
}

/** Of a histogram without labels of its own. */
function checkHistogram(name: string, series: ReadonlyMap<string, number>): void {
  let last = 0;
  let lastBound = Number.NEGATIVE_INFINITY;
  for (const [key, value] of series) {
    const le = /_bucket\{(?:.*,)?le="([^"]+)"/.exec(key)?.[1];
    if (le === undefined) continue;
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
    if (!(bound > lastBound) || value < last) throw new Error(`${key} is below the one before`);
    lastBound = bound;
    last = value;
  }
  if (
    lastBound !== Number.POSITIVE_INFINITY ||
    last !== [...series].find(([key]) => key.startsWith(`${name}_count`))?.[1]
  ) {
    throw new Error(`the buckets of ${name} do not add up`);
  }
}
