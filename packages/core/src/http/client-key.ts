import { networkOf } from '../key/address-key.js';
import { warnOnce } from '../warnings.js';

/**
 * Whom the framework believes when it says where a request came from: nobody, anybody, those the
 * app named, or nobody although the app gave a count of proxies.
 */
export type ProxyTrust = 'nobody' | 'anybody' | 'named' | 'count-ignored';

/** What an adapter knows of proxies in front of the app, to warn where addresses mean little. */
export interface ProxyView<Request> {
  trustOf(request: Request): ProxyTrust;
  /** Whether the request has an X-Forwarded-For. */
  isForwarded(request: Request): boolean;
  /** What `trustOf` says of every request, where that is known before the first. Default: unknown. */
  readonly trustOfAll?: ProxyTrust | undefined;
  /** How to name the proxies, for warnings: an imperative without a full stop. */
  readonly advice: string;
}

/**
 * The function that gives the default partition key of a request: the network of its client, by the
 * framework's own view of the address; undefined where that is missing or no address.
 *
 * It warns once a process where the app's trust in proxies makes the address worthless. It looks
 * for that until it knows: with X-Forwarded-For ignored, until a request has one.
 */
export function clientKeys<Request>(
  addressOf: (request: Request) => string | undefined,
  ipv6Prefix: number,
  proxies: ProxyView<Request> | undefined,
): (request: Request) => string | undefined {
  // Whatever the key: the address means nothing to the rest of the app either.
  if (proxies?.trustOfAll === 'count-ignored') warnOfCount(proxies);
  let unsure = proxies !== undefined;
  return (request) => {
    if (unsure && proxies !== undefined) unsure = !isSettled(request, proxies);
    return networkOf(addressOf(request), ipv6Prefix);
  };
}

/** Warns where there is cause to. True where there is no more to find out. */
function isSettled<Request>(request: Request, proxies: ProxyView<Request>): boolean {
  const { advice } = proxies;
  const trust = proxies.trustOf(request);
  if (trust === 'anybody') {
    const why = 'X-Forwarded-For is believed whoever sends it';
    const message = `every client can choose the address it is charged to, as ${why}: ${advice}`;
    warnOnce('RL_PROXY_TRUSTS_ANYBODY', message);
  } else if (trust === 'count-ignored') {
    warnOfCount(proxies);
  } else if (trust === 'nobody') {
    if (!proxies.isForwarded(request)) return false;
    const why = 'a request has X-Forwarded-For and no proxy is trusted';
    const message = `${why}: if it came through a proxy of yours, all clients behind that share one quota; ${advice}`;
    warnOnce('RL_PROXY_NOT_TRUSTED', message);
  }
  return true;
}

function warnOfCount({ advice }: Pick<ProxyView<never>, 'advice'>): void {
  const why = 'the framework trusts nobody where it is given a count of proxies';
  warnOnce(
    'RL_PROXY_COUNT_IGNORED',
    `clients behind a proxy share one quota, as ${why}: ${advice}`,
  );
}
