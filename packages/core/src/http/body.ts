import { invalidType, invalidValue, show } from '../errors.js';
import type { Denial } from './denial.js';

/** Bodies by name. */
export const BODY_PRESETS = ['problem', 'text', 'json', 'error'] as const;
export type BodyPreset = (typeof BODY_PRESETS)[number];

/** A body with its media type, made by `content`. */
export interface Content {
  /** Of Content-Type: `text/html; charset=utf-8`. */
  readonly type: string;
  readonly data: string | Uint8Array;
}

/** Registered symbol: one made by the ESM build is known to the CJS build. */
const CONTENT: unique symbol = Symbol.for('@rl/core/content') as never;

/**
 * A body of a media type of its own, such as a page, for the option `body`.
 * @param type printable ASCII
 * @throws TypeError or RangeError that names what is wrong and shows it
 */
export function content(type: string, data: string | Uint8Array): Content {
  if (typeof type !== 'string' || !/^[\x20-\x7e]+$/.test(type)) {
    throw invalidValue('type', 'a media type such as "text/html; charset=utf-8"', type);
  }
  if (typeof data !== 'string' && !(data instanceof Uint8Array)) {
    throw invalidType('data', 'a text or bytes', data);
  }
  return Object.freeze({ type, data, [CONTENT]: true });
}

/**
 * What a function gives as body: a text, sent as plain text; what `content` makes, as it is; any other
 * object, as JSON.
 */
export type Body = string | Content | object;

/** Makes the body of a denial. What it throws goes to the framework's error handling. */
export type BodyFunction<Request> = (denial: Denial, request: Request) => Body | PromiseLike<Body>;

/**
 * What a denied client is answered with. `problem`, the default: a problem document (RFC 9457).
 * `text`: its sentence. `json`: `{ statusCode, error, message }`. `error`: whatever the framework makes
 * of an error with this status. Or a function.
 */
export type BodyOption<Request> = BodyPreset | BodyFunction<Request>;

/** @throws TypeError or RangeError that shows the value */
export function checkBody<Request>(option: unknown): BodyOption<Request> {
  if (typeof option === 'function') return option as BodyFunction<Request>;
  const preset = BODY_PRESETS.find((name) => name === option);
  if (preset !== undefined) return preset;
  const refuse = typeof option === 'string' ? invalidValue : invalidType;
  throw refuse('body', `one of ${BODY_PRESETS.map(show).join(', ')}, or a function`, option);
}

/** The body by a preset that is one: `error` has none. */
export function presetBody(preset: Exclude<BodyPreset, 'error'>, denial: Denial): Content {
  switch (preset) {
    case 'problem': {
      const { type, title, status, detail, violatedPolicies } = denial;
      const document = { type, title, status, detail, 'violated-policies': violatedPolicies };
      return { type: 'application/problem+json', data: JSON.stringify(document) };
    }
    case 'text':
      return plainText(denial.detail);
    case 'json':
      return json({ statusCode: denial.status, error: reasonOf(denial), message: denial.detail });
  }
}

/** @throws TypeError where a function gave nothing that can be sent, or bytes of no media type */
export function toContent(body: unknown): Content {
  if (typeof body === 'string') return plainText(body);
  if (typeof body !== 'object' || body === null || ArrayBuffer.isView(body)) {
    const expected = 'a function that returns a text, an object, or bytes by content(type, bytes)';
    throw invalidType('body', expected, body);
  }
  return isContent(body) ? body : json(body);
}

function isContent(body: object): body is Content {
  return CONTENT in body;
}

/** The words of the status line. */
export function reasonOf({ status }: Pick<Denial, 'status'>): string {
  return status === 429 ? 'Too Many Requests' : 'Service Unavailable';
}

function plainText(data: string): Content {
  return { type: 'text/plain; charset=utf-8', data };
}

function json(value: object): Content {
  const data = JSON.stringify(value) as string | undefined;
  if (data === undefined) throw invalidType('body', 'what JSON can hold', value);
  return { type: 'application/json; charset=utf-8', data };
}
