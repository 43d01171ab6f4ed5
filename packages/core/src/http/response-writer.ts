import type { ResponseEnd } from './after-response.js';
import type { Verdict } from './gate.js';
import type { Header } from './headers/header.js';

/** How an adapter reads and sets headers of its framework's responses. */
export interface ResponseWriter<Response> {
  get(response: Response, name: string): unknown;
  set(response: Response, name: string, value: string): void;
}

/**
 * Writes a verdict's headers: those about quotas, and where the request was denied those of the
 * refusal. Of a refusal whose error is to be raised, the error gets them all as well.
 */
export function writeHeaders<Response>(
  { headers, refusal }: Verdict,
  response: Response,
  writer: ResponseWriter<Response>,
): void {
  for (const [name, value] of headers.append) {
    writer.set(response, name, appendToField(writer.get(response, name), value));
  }
  for (const [name, value] of headers.replace) writer.set(response, name, value);
  if (refusal === undefined) return;
  for (const [name, value] of refusal.headers) writer.set(response, name, value);
  if (refusal.error === undefined) return;
  const written = [...headers.append, ...headers.replace, ...refusal.headers];
  refusal.error.headers = readBack(written, response, writer);
}

function readBack<Response>(
  written: readonly Header[],
  response: Response,
  writer: ResponseWriter<Response>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(written.map(([name]) => [name, String(writer.get(response, name))]));
}

/**
 * A list field with one more member, behind what is there: `a, b`.
 * @param before the header as the framework gives it; nothing where it is not set
 */
export function appendToField(before: unknown, value: string): string {
  return before === undefined || before === '' ? value : `${before}, ${value}`;
}

interface Http2Stream {
  readonly destroyed: boolean;
  /** True where it was closed before its response had been ended. */
  readonly aborted?: boolean;
  /** 0 where it was closed in order. */
  readonly rstCode?: number | undefined;
}

/** What is watched of Node's own response: `http.ServerResponse` and that of `http2` have it. */
export interface NodeResponse {
  readonly statusCode: number;
  /** All of it has been handed over. Of `http2` also where it was aborted before its end. */
  readonly writableFinished?: boolean;
  /** Of `http`: it is over, whole or not. */
  readonly destroyed?: boolean;
  /** Of `http2`; undefined or destroyed where it is over. */
  readonly stream?: Http2Stream | undefined;
  once(event: 'finish' | 'close', listener: () => void): unknown;
}

/**
 * Calls `onEnd` once: when the response has been handed over whole, or when its connection closed
 * before that; at once where that has happened. After the first, Node tells of the second too.
 */
export function watchResponse(
  response: NodeResponse,
  onEnd: ((response: ResponseEnd) => void) | undefined,
): void {
  if (onEnd === undefined) return;
  let ended = false;
  const end = (whole: boolean): void => {
    if (ended) return;
    ended = true;
    onEnd({ status: whole ? response.statusCode : undefined });
  };
  if (isOver(response)) {
    end(isWhole(response));
    return;
  }
  const { stream } = response;
  // `http2` tells of a finish whatever became of the stream.
  response.once('finish', () => end(stream === undefined || isInOrder(stream)));
  response.once('close', () => end(false));
}

function isOver(response: NodeResponse): boolean {
  if ('stream' in response) return response.stream === undefined || response.stream.destroyed;
  return response.destroyed === true || response.writableFinished === true;
}

function isWhole({ writableFinished, stream }: NodeResponse): boolean {
  return writableFinished === true && (stream === undefined || isInOrder(stream));
}

function isInOrder({ aborted = false, rstCode = 0 }: Http2Stream): boolean {
  return !aborted && rstCode === 0;
}
