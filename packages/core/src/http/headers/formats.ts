import type { Decision } from '../../decision/decision.js';
import { checkOptionNames, invalidType, invalidValue, show } from '../../errors.js';
import { checkSecret } from '../../key/secret-key.js';
import { isThenable } from '../thenable.js';
import { draft6 } from './draft-6.js';
import { DRAFT_7 } from './draft-7.js';
import { draft11 } from './draft-11.js';
import type { Header, HeaderFormat } from './header.js';
import { LEGACY_DELTA, LEGACY_EPOCH, X_RATE_LIMIT } from './legacy.js';

/** The headers that clients know, by name; `draft-8` is `draft-11`, which writes the same. */
export const HEADER_PRESETS = [
  'draft-11',
  'draft-8',
  'draft-7',
  'draft-6',
  'legacy-epoch',
  'legacy-delta',
  'x-rate-limit',
  'none',
] as const;
export type HeaderPreset = (typeof HEADER_PRESETS)[number];

/**
 * Headers of the app's own, by name, from what the client is told: the decision of each policy, the
 * strictest first. What other limiters of the request told is among them. It replaces what is there.
 */
export type HeaderWriter = (told: readonly Decision[]) => Readonly<Record<string, string | number>>;

/** One family of headers, or several beside each other. */
export type HeaderFormats = HeaderPreset | HeaderWriter | readonly (HeaderPreset | HeaderWriter)[];

export interface HeaderOptions {
  /** Default `"draft-11"`. */
  formats?: HeaderFormats | undefined;
  /**
   * Which policies clients are told of: `each`, or the `strictest` alone. Formats whose fields are
   * about one policy tell the strictest in either case. Default `"each"`.
   */
  policies?: 'each' | 'strictest' | undefined;
  /**
   * A secret: with it `draft-11` tells a keyed hash of the partition key, `pk`. All replicas need the
   * same. Default: none is told.
   */
  partitionKeySecret?: string | Uint8Array | undefined;
  /**
   * True has scripts of other origins read what is written, and Retry-After: it appends their names to
   * Access-Control-Expose-Headers. Default false.
   */
  expose?: boolean | undefined;
}

/** The option after checking. */
export interface HeaderTerms {
  /** At least one, unless nothing is told. */
  readonly formats: readonly HeaderFormat[];
  readonly strictestOnly: boolean;
  readonly expose: boolean;
}

const OPTIONS: { readonly [Name in keyof HeaderOptions]-?: true } = {
  formats: true,
  policies: true,
  partitionKeySecret: true,
  expose: true,
};

/** Those whose RateLimit-Policy has a syntax of its own, so that draft 6 leaves it out beside them. */
const WITH_POLICY: readonly unknown[] = ['draft-11', 'draft-8', 'draft-7'];

/** @throws TypeError or RangeError that names the option and shows the value */
export function parseHeaders(option: HeaderFormats | HeaderOptions | undefined): HeaderTerms {
  const isOptions = typeof option === 'object' && option !== null && !Array.isArray(option);
  const options: HeaderOptions = isOptions
    ? (option as HeaderOptions)
    : { formats: option as HeaderFormats | undefined };
  if (isOptions) checkOptionNames('headers', options, Object.keys(OPTIONS));
  const { policies = 'each', partitionKeySecret, expose = false } = options;
  if (policies !== 'each' && policies !== 'strictest') {
    throw invalidValue('headers.policies', '"each" or "strictest"', policies);
  }
  if (typeof expose !== 'boolean') throw invalidType('headers.expose', 'true or false', expose);
  if (partitionKeySecret !== undefined) {
    checkSecret(partitionKeySecret, 'headers.partitionKeySecret');
  }
  const field = isOptions ? 'headers.formats' : 'headers';
  const { formats: given = 'draft-11' } = options;
  const formats = parseFormats(field, given, partitionKeySecret);
  return { formats, strictestOnly: policies === 'strictest', expose };
}

function parseFormats(
  field: string,
  option: HeaderFormats,
  secret: string | Uint8Array | undefined,
): readonly HeaderFormat[] {
  const list: readonly unknown[] = Array.isArray(option) ? option : [option];
  if (list.length === 0) throw invalidValue(field, 'not empty: "none" tells nothing', option);
  if (list.includes('none') && list.length > 1) {
    throw invalidValue(field, '"none" alone, or without it', list.map(String).join(', '));
  }
  const withPolicy = !list.some((one) => WITH_POLICY.includes(one));
  const formats = list.flatMap((one) => formatOf(field, one, secret, withPolicy) ?? []);
  checkClashes(field, list, formats);
  return formats;
}

/** Undefined for `none`. */
function formatOf(
  field: string,
  option: unknown,
  secret: string | Uint8Array | undefined,
  withPolicy: boolean,
): HeaderFormat | undefined {
  if (typeof option === 'function') return ofApp(field, option as HeaderWriter);
  switch (option) {
    case 'draft-11':
    case 'draft-8':
      return draft11(secret);
    case 'draft-7':
      return DRAFT_7;
    case 'draft-6':
      return draft6(withPolicy);
    case 'legacy-epoch':
      return LEGACY_EPOCH;
    case 'legacy-delta':
      return LEGACY_DELTA;
    case 'x-rate-limit':
      return X_RATE_LIMIT;
    case 'none':
      return undefined;
    default: {
      const presets = HEADER_PRESETS.map(show).join(', ');
      const refuse = typeof option === 'string' ? invalidValue : invalidType;
      throw refuse(field, `one or more of ${presets}, or a function`, option);
    }
  }
}

/** Two formats that write one field would make it a field of neither. */
function checkClashes(
  field: string,
  list: readonly unknown[],
  formats: readonly HeaderFormat[],
): void {
  const seen = new Set<string>();
  for (const name of formats.flatMap(({ names }) => names)) {
    if (!seen.has(name)) {
      seen.add(name);
      continue;
    }
    const given = list.filter((one) => typeof one === 'string').join(', ');
    throw invalidValue(field, `formats that do not both write ${name}`, given);
  }
}

/** Field names (RFC 9110, section 5.6.2), and values of printable ASCII and tabs. */
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

function ofApp(field: string, write: HeaderWriter): HeaderFormat {
  return {
    names: [],
    isList: false,
    write(told) {
      const headers: unknown = write(told.map(({ decision }) => decision));
      if (!isByName(headers)) {
        throw invalidType(field, 'a function that returns an object of headers by name', headers);
      }
      return Object.entries(headers).map(([name, value]) => toHeader(field, name, value));
    },
  };
}

/** False for what would pass for an object without headers: a promise, a Map, a Headers, a list. */
function isByName(headers: unknown): headers is object {
  if (typeof headers !== 'object' || headers === null) return false;
  if (!isThenable(headers)) return !(Symbol.iterator in headers);
  // It is refused here, so nobody else would hear of its rejection.
  headers.then(undefined, () => {});
  return false;
}

function toHeader(field: string, name: string, value: unknown): Header {
  if (!FIELD_NAME.test(name)) {
    throw invalidValue(field, 'a function that returns names of header fields', name);
  }
  const text = Number.isFinite(value) ? String(value) : value;
  if (typeof text !== 'string')
    throw invalidType(`${field}.${name}`, 'a text or a finite number', value);
  if (!FIELD_VALUE.test(text)) throw invalidValue(`${field}.${name}`, 'printable ASCII', value);
  return [name, text];
}
