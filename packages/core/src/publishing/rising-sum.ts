/** Numbers that only rise, in lists and by name in any depth. What is left out is 0. */
export type Counts = number | readonly Counts[] | { readonly [name: string]: Counts | undefined };

/**
 * The sum of what sources count, which never falls: a source may go, and what it had counted stays in
 * the sum; where it comes back, only what it has counted since is added.
 */
export class RisingSum<Reading extends Counts> {
  /** Each source that is here, with what it had counted when it went last. */
  readonly #here = new Map<object, Reading | undefined>();
  readonly #whenItWent = new WeakMap<object, Reading>();
  /** What sources counted while they were here that are not now. */
  #gone: Reading;
  /** What was told last. Parts of a whole number, added in another order, may make a little less. */
  #told: Reading;

  /** @param nothing what no source counts */
  constructor(nothing: Reading) {
    this.#gone = nothing;
    this.#told = nothing;
  }

  join(source: object): void {
    if (!this.#here.has(source)) this.#here.set(source, this.#whenItWent.get(source));
  }

  /** @param reading what it has counted so far */
  leave(source: object, reading: Reading): void {
    this.#gone = combine(this.#gone, this.#since(source, reading), plus);
    this.#whenItWent.set(source, reading);
    this.#here.delete(source);
  }

  /** @param readings what each source that is here has counted so far */
  read(readings: Iterable<readonly [source: object, reading: Reading]>): Reading {
    let sum = this.#gone;
    for (const [source, reading] of readings) {
      sum = combine(sum, this.#since(source, reading), plus);
    }
    this.#told = combine(this.#told, sum, Math.max);
    return this.#told;
  }

  #since(source: object, reading: Reading): Reading {
    const before = this.#here.get(source);
    return before === undefined ? reading : combine(reading, before, minus);
  }
}

function plus(a: number, b: number): number {
  return a + b;
}

function minus(a: number, b: number): number {
  return a - b;
}

/** Number by number. One of the two may lack what the other has. */
function combine<Reading extends Counts>(
  a: Reading | undefined,
  b: Reading | undefined,
  each: (a: number, b: number) => number,
): Reading;
function combine(
  a: Counts | undefined,
  b: Counts | undefined,
  each: (a: number, b: number) => number,
): Counts {
  const some = a ?? b ?? 0;
  if (typeof some === 'number') return each((a as number) ?? 0, (b as number) ?? 0);
  const [left, right] = [a ?? {}, b ?? {}] as Record<string, Counts>[];
  if (Array.isArray(some)) return some.map((_, i) => combine(left?.[i], right?.[i], each));
  const names = new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})]);
  const entries = [...names].map((name) => [name, combine(left?.[name], right?.[name], each)]);
  return Object.fromEntries(entries);
}
