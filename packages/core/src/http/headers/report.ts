import type { Decision } from '../../decision/decision.js';
import type { HeaderTerms } from './formats.js';
import type { Header, HeaderFormat, Told } from './header.js';

/** What is written to a response. */
export interface HeaderSet {
  /** Each is a list, behind what is there. */
  readonly append: readonly Header[];
  /** Each in the place of what is there. */
  readonly replace: readonly Header[];
}

export const NO_HEADERS: HeaderSet = { append: [], replace: [] };

/**
 * What the limiters of a request have told so far, for formats whose fields are about one policy: the
 * last of them must not hide a stricter one before it.
 */
const TOLD_BEFORE = new WeakMap<object, readonly Told[]>();

/** Writes the headers about decisions. */
export class HeaderReport {
  readonly #lists: readonly HeaderFormat[];
  readonly #others: readonly HeaderFormat[];
  /** Where there is one format and nothing besides it, which is a list: most apps have that. */
  readonly #only: HeaderFormat | undefined;
  readonly #terms: HeaderTerms;

  constructor(terms: HeaderTerms) {
    this.#terms = terms;
    this.#lists = terms.formats.filter(({ isList }) => isList);
    this.#others = terms.formats.filter(({ isList }) => !isList);
    const isPlain = terms.formats.length === 1 && !terms.expose;
    this.#only = isPlain ? this.#lists[0] : undefined;
  }

  /**
   * @param request the framework's: the same for all limiters of a request
   * @param told what an open or closed fallback decided is left out: nobody knows what is left there
   */
  headersOf(request: unknown, told: readonly Told[]): HeaderSet {
    const [first] = told;
    if (this.#only !== undefined && told.length === 1 && isKnown(first as Told)) {
      return { append: this.#only.write(told), replace: NO_HEADERS.replace };
    }
    const known = told.filter(isKnown);
    if (known.length === 0 || this.#terms.formats.length === 0) return this.#nothing(told);
    const own = this.#terms.strictestOnly ? [strictestFirst(known)[0] as Told] : known;
    const append = this.#lists.flatMap((format) => format.write(own));
    const replace = this.#others.length === 0 ? NO_HEADERS.replace : this.#replace(request, own);
    if (!this.#terms.expose) return { append, replace };
    return { append: [...append, exposed(append, replace)], replace };
  }

  /** A denial has its Retry-After in any case. */
  #nothing(told: readonly Told[]): HeaderSet {
    if (!this.#terms.expose || told.every(({ decision }) => decision.allowed)) return NO_HEADERS;
    return { append: [exposed([], [])], replace: [] };
  }

  #replace(request: unknown, own: readonly Told[]): readonly Header[] {
    const before = isObject(request) ? (TOLD_BEFORE.get(request) ?? []) : [];
    const all = strictestFirst([...before, ...own]);
    if (isObject(request)) TOLD_BEFORE.set(request, all);
    return this.#others.flatMap((format) => format.write(all));
  }
}

/** A header that names those of both lists, and Retry-After. */
function exposed(append: readonly Header[], replace: readonly Header[]): Header {
  const names = [...append, ...replace].map(([name]) => name);
  return ['Access-Control-Expose-Headers', [...names, 'Retry-After'].join(', ')];
}

/** A local fallback counts, if only for this replica, and a region's share does; the others do not. */
function isKnown({ decision: { fallback } }: Told): boolean {
  return fallback === undefined || fallback.mode === 'local' || fallback.mode === 'region';
}

/** Denials before all others, those with the longest wait first; then by what is left. */
function strictestFirst(told: readonly Told[]): readonly Told[] {
  return [...told].sort(({ decision: a }, { decision: b }) => {
    if (a.allowed !== b.allowed) return a.allowed ? 1 : -1;
    return waitOf(b) - waitOf(a) || a.remaining - b.remaining;
  });
}

/** 0 where it is allowed; a cost that can never fit counts as the longest, as a finite number. */
function waitOf({ allowed, retryAfterMs }: Decision): number {
  return allowed ? 0 : (retryAfterMs ?? Number.MAX_VALUE);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
