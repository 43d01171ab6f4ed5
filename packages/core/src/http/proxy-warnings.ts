import { show } from '../errors.js';
import { type WarningCode, warnOnce } from '../warnings.js';
import type { ForwardedBy } from './proxy-options.js';
import type { RequestReader } from './request-reader.js';

const NAMES: Readonly<Record<ForwardedBy, string>> = {
  'x-forwarded-for': 'X-Forwarded-For',
  forwarded: 'Forwarded',
};

/**
 * What looks as if `trustedProxies` did not describe the proxies that are there, each told of once: of
 * what is told nothing is looked for again, however many requests are of that kind.
 */
export class ProxyWarnings<Request> {
  readonly #reader: RequestReader<Request>;
  readonly #by: ForwardedBy;
  readonly #other: ForwardedBy;
  readonly #told = { stranger: false, other: false, fewer: false };

  constructor(reader: RequestReader<Request>, by: ForwardedBy) {
    this.#reader = reader;
    this.#by = by;
    this.#other = by === 'forwarded' ? 'x-forwarded-for' : 'forwarded';
  }

  listHasEverybody(): void {
    const why = 'trustedProxies contains every address';
    const advice = 'name the addresses of your proxies alone';
    warnOnce(ANYBODY, `every client can choose the address it is charged to, as ${why}: ${advice}`);
  }

  /** The header came from a peer that is not in the list. */
  fromStranger(peer: string | undefined): void {
    if (this.#told.stranger) return;
    this.#told.stranger = true;
    const why = `a request with ${NAMES[this.#by]} came from ${show(peer)}, which trustedProxies does not have`;
    const message = `${why}: if it is a proxy of yours, all clients behind it share one quota; add it to the list`;
    warnOnce('RL_PROXY_NOT_TRUSTED', message);
  }

  /**
   * A request without the header that is read: true where it has the other one.
   * @param isTrusted whether that may be a proxy's
   */
  withoutHeader(request: Request, isTrusted: () => boolean): boolean {
    if (this.#told.other) return false;
    if (this.#reader.headerOf(request, this.#other) === undefined || !isTrusted()) return false;
    this.#told.other = true;
    const why = `a request has ${NAMES[this.#other]} and no ${NAMES[this.#by]}`;
    const advice = `set forwardedBy to ${show(this.#other)}${this.#by === 'forwarded' ? '' : ', with a list of them in trustedProxies'}`;
    const message = `${why}: if your proxies write it, all clients behind them share one quota; ${advice}`;
    warnOnce('RL_PROXY_HEADER_UNUSED', message);
    return true;
  }

  /** The header tells of fewer proxies than the app counts. */
  fewerThanCounted(hops: number, count: number): void {
    if (this.#told.fewer) return;
    this.#told.fewer = true;
    const why = `a request came through ${hops} where trustedProxies counts ${count}`;
    const advice =
      'count those that every request comes through and let nobody get past them, or list their addresses';
    warnOnce(
      'RL_PROXY_COUNT_TOO_HIGH',
      `clients may choose the address they are charged to, as ${why}: ${advice}`,
    );
  }
}

const ANYBODY: WarningCode = 'RL_PROXY_TRUSTS_ANYBODY';
