import type { Denied } from '../decision/decision.js';
import { messageOf } from '../errors.js';
import { parseDuration } from '../time/duration.js';
import { warnOnce } from '../warnings.js';
import { type BodyOption, type Content, checkBody, presetBody, toContent } from './body.js';
import { type Denial, denialOf, denialOfUnnamed } from './denial.js';
import { DeniedError } from './denied-error.js';
import { checkFunction } from './functions.js';
import { parseHeaders } from './headers/formats.js';
import type { Header } from './headers/header.js';
import { HeaderReport } from './headers/report.js';
import type { AnswerOptions } from './options.js';
import { isThenable, type Later, when } from './thenable.js';

/** What a denied request is answered with, besides what is told of its quota. */
export interface Refusal {
  readonly status: 429 | 503;
  /** Each in the place of what is there. */
  readonly headers: readonly Header[];
  readonly body: string | Uint8Array;
  /** To be raised in place of the body, where the app wants its framework to answer. */
  readonly error: DeniedError | undefined;
}

/** How clients are answered: the options about that after checking. */
export class Answer<Request> {
  readonly report: HeaderReport;
  readonly #body: BodyOption<Request>;
  readonly #jitterMs: number;
  readonly #onDenied: AnswerOptions<Request>['onDenied'];

  /** @throws TypeError or RangeError that names the option and shows the value */
  constructor({ headers, body = 'problem', retryJitter, onDenied }: AnswerOptions<Request>) {
    this.report = new HeaderReport(parseHeaders(headers));
    this.#body = checkBody(body);
    this.#jitterMs = retryJitter === undefined ? 0 : parseDuration('retryJitter', retryJitter);
    if (onDenied !== undefined) checkFunction('onDenied', onDenied, 'a denial and the request');
    this.#onDenied = onDenied;
  }

  refuse(request: Request, decision: Denied): Later<Refusal> {
    return this.#refuse(request, denialOf(decision, this.#jitterS()));
  }

  refuseUnnamed(request: Request, policy: string): Later<Refusal> {
    return this.#refuse(request, denialOfUnnamed(policy));
  }

  #refuse(request: Request, denial: Denial): Later<Refusal> {
    this.#tell(request, denial);
    if (this.#body === 'error') {
      const error = new DeniedError(denial);
      return { status: denial.status, headers: headersOf(denial), body: '', error };
    }
    if (typeof this.#body !== 'function') return refusal(denial, presetBody(this.#body, denial));
    return when(this.#body(denial, request), (body) => refusal(denial, toContent(body)));
  }

  /** The app's own function cannot change the answer, so neither can its failure. */
  #tell(request: Request, denial: Denial): void {
    if (this.#onDenied === undefined) return;
    try {
      const told: unknown = this.#onDenied(denial, request);
      if (isThenable(told)) told.then(undefined, warnOfObserver);
    } catch (error) {
      warnOfObserver(error);
    }
  }

  /** Whole seconds, from 0 to the jitter. */
  #jitterS(): number {
    if (this.#jitterMs === 0) return 0;
    return Math.floor(Math.random() * (Math.ceil(this.#jitterMs / 1000) + 1));
  }
}

function refusal(denial: Denial, { type, data }: Content): Refusal {
  const headers: readonly Header[] = [['Content-Type', type], ...headersOf(denial)];
  return { status: denial.status, headers, body: data, error: undefined };
}

/** Caches must not keep a denial (RFC 6585, section 4); some need to be told. */
function headersOf({ retryAfterS }: Denial): readonly Header[] {
  const noStore: Header = ['Cache-Control', 'no-store'];
  return retryAfterS === undefined ? [noStore] : [noStore, ['Retry-After', `${retryAfterS}`]];
}

function warnOfObserver(error: unknown): void {
  warnOnce('RL_OBSERVER_FAILED', `onDenied failed, which changes no answer: ${messageOf(error)}`);
}
