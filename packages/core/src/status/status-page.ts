import { boundPartitionKey } from '../key/partition-key.js';
import { monotonicClock, wallClock } from '../time/clock.js';
import { factsOf, type StatusFacts } from './facts.js';
import { maskKey, REPLICA } from './masking.js';
import { parseStatusOptions, type StatusPageOptions, type StatusTerms } from './options.js';
import { renderPage } from './page.js';
import { type HeaderReader, readQuestion } from './question.js';
import { SCRIPT } from './script.js';
import { STYLE } from './style.js';
import { textsOf } from './texts.js';
import { answerOf, factsOfAnswer } from './words.js';

/** What the page reads of a request. */
export interface StatusCall {
  readonly method: string;
  /** The whole path, as it came, without a query. */
  readonly path: string;
  /** The part of it where the page is: empty for the root. */
  readonly mount: string;
  readonly header: HeaderReader;
}

/** For the adapter to send as it stands; to HEAD without the body. */
export interface StatusAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const LOCKED: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** The page of one replica: whether a key is denied there, and why; who else is. */
export class StatusPage<Request> {
  readonly #terms: StatusTerms<Request>;

  /** @throws TypeError or RangeError that names the option and shows the value */
  constructor(options: StatusPageOptions<Request>) {
    this.#terms = parseStatusOptions(options);
  }

  /** Rejects where `allow` or `policies` fails, or the limiter is closed. */
  async answer(request: Request, call: StatusCall): Promise<StatusAnswer> {
    if ((await this.#terms.allow(request)) !== true) return plain(403, 'Forbidden');
    const { method, path } = call;
    // Of a path such as //host/a, a URL would lead to another host.
    const mount = call.mount.replace(/^[/\\]+/, '/').replace(/\/+$/, '');
    const rest = isBelow(path, call.mount)
      ? path.slice(call.mount.length).replace(/^\/$/, '')
      : '?';
    const route = this.#routeOf(rest, mount, call.header);
    if (route === undefined) return plain(404, 'Not Found');
    if (method === 'GET' || method === 'HEAD') return route();
    return plain(405, 'Method Not Allowed', { Allow: 'GET, HEAD' });
  }

  #routeOf(
    rest: string,
    mount: string,
    header: HeaderReader,
  ): (() => StatusAnswer | Promise<StatusAnswer>) | undefined {
    switch (rest) {
      case '':
        return () => answer(200, 'text/html', renderPage(this.#facts(), mount));
      case '/status.css':
        return () => answer(200, 'text/css', STYLE);
      case '/status.js':
        return () => answer(200, 'text/javascript', SCRIPT);
      case '/facts':
        return () => {
          const facts = this.#facts();
          return json(200, { facts, ...textsOf(facts) });
        };
      case '/explain':
        return () => this.#explain(header);
      default:
        return undefined;
    }
  }

  #facts(): StatusFacts {
    return factsOf(this.#terms, REPLICA, monotonicClock.nowMs(), (key) => this.#shown(key));
  }

  async #explain(header: HeaderReader): Promise<StatusAnswer> {
    const question = readQuestion(this.#terms, header);
    if (typeof question === 'string') return json(400, { error: question });
    const { limiter, policy, key, cost } = question;
    const policies = await this.#terms.policies?.(policy, key);
    const { each } = await limiter.explain({ [policy]: key }, { cost, policies });
    const nowMs = wallClock.nowMs();
    const [one] = each;
    if (one === undefined) throw new Error('nothing was explained');
    return json(200, {
      answer: answerOf(one, cost, nowMs),
      masked: this.#shown(boundPartitionKey(key)),
      facts: factsOfAnswer(one, cost, nowMs),
    });
  }

  /** @param key as it is kept: of a long one the digest */
  #shown(key: string): string {
    return this.#terms.showKeys ? key : maskKey(key);
  }
}

/** True where the path is that of the page, or one of its own. */
export function isBelow(path: string, mount: string): boolean {
  return path === mount || path.startsWith(`${mount}/`);
}

function json(status: number, value: object): StatusAnswer {
  return answer(status, 'application/json', JSON.stringify(value));
}

function plain(status: number, text: string, headers = {}): StatusAnswer {
  return answer(status, 'text/plain', text, headers);
}

function answer(status: number, type: string, body: string, headers = {}): StatusAnswer {
  return {
    status,
    headers: { 'Content-Type': `${type}; charset=utf-8`, ...LOCKED, ...headers },
    body,
  };
}
