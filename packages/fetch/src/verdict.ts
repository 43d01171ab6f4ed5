import {
  type Verdict as GateVerdict,
  type Header,
  type ResponseEnd,
  type ResponseWriter,
  writeHeaders,
} from '@rl/core/http';
import { watchBody } from './watch-body.js';

const WRITER: ResponseWriter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  set: (headers, name, value) => headers.set(name, value),
};

/** What the limiters of a request say last in fields about the strictest policy of all. */
const STRICTEST = new WeakMap<Request, readonly Header[]>();

/** What is to be done with a request. */
export class Verdict {
  /** The answer, where the request is denied; undefined where it goes ahead. */
  readonly denied: Response | undefined;
  readonly #request: Request;
  readonly #found: GateVerdict | undefined;
  /** Told of the end once, by whichever comes first; undefined where nothing depends on it. */
  readonly #onEnd: GateVerdict['onEnd'];

  /** @throws DeniedError where the app wants its framework to answer */
  constructor(request: Request, found: GateVerdict | undefined) {
    this.#request = request;
    this.#found = found;
    if (found === undefined) return;
    this.#onEnd = endOnce(request.signal, found.onEnd);
    if (found.headers.replace.length > 0) STRICTEST.set(request, found.headers.replace);
    const { refusal } = found;
    if (refusal === undefined) return;
    const headers = new Headers();
    writeHeaders(found, headers, WRITER);
    if (refusal.error !== undefined) throw refusal.error;
    this.denied = new Response(refusal.body, { status: refusal.status, headers });
  }

  /** Undefined where nothing was asked: the request is exempt, or says not whom it is charged to. */
  get decision(): GateVerdict['decision'] {
    return this.#found?.decision;
  }

  /**
   * The response of an allowed request with what it is told of its quotas: a new one with the same body,
   * since others may be immutable or shared. `refundWhen` and `settle` are asked once that body was sent, or when the
   * client goes away, which may be before. What cannot be made anew, a network error or a
   * switch of protocols, is given back as it is. To be called once.
   */
  finish(response: Response): Response {
    if (this.#found === undefined || this.denied !== undefined) return response;
    const { headers: told } = this.#found;
    const { status, statusText } = response;
    if (status < 200) {
      this.#onEnd?.({ status: status === 0 ? undefined : status });
      return response;
    }
    const headers = new Headers(response.headers);
    // The limiters inside of this one have written before it.
    for (const [name, value] of told.append) {
      const inner = headers.get(name);
      headers.set(name, inner ? `${value}, ${inner}` : value);
    }
    if (told.replace.length > 0) {
      for (const [name, value] of STRICTEST.get(this.#request) ?? []) headers.set(name, value);
    }
    return new Response(this.#watched(response), { status, statusText, headers });
  }

  /**
   * To be called in the place of `finish` with what a handler threw, which is what there is to throw on:
   * it counts as a response of status 500. A Response that was thrown counts as one that was returned.
   */
  fail(thrown: unknown): unknown {
    if (thrown instanceof Response) return this.finish(thrown);
    this.#onEnd?.({ status: 500 });
    return thrown;
  }

  #watched({ body, status }: Response): ReadableStream | null {
    const onEnd = this.#onEnd;
    if (onEnd === undefined) return body;
    if (body !== null && this.#request.method !== 'HEAD') {
      return watchBody(body, (isWhole) => onEnd({ status: isWhole ? status : undefined }));
    }
    onEnd({ status });
    return body;
  }
}

/** The first end alone, which is that the client goes away where the signal says so. */
function endOnce(signal: AbortSignal, onEnd: GateVerdict['onEnd']): GateVerdict['onEnd'] {
  if (onEnd === undefined) return undefined;
  let ended = false;
  const leave = (): void => end({ status: undefined });
  const end = (response: ResponseEnd): void => {
    if (ended) return;
    ended = true;
    signal.removeEventListener('abort', leave);
    onEnd(response);
  };
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave);
  return end;
}
