import type { ProxyTrust, ProxyView } from '@rl/core/http';
import type { FastifyRequest } from 'fastify';

/** What the option `trustProxy` says, to warn where it makes `request.ip` worthless. */
export function proxiesOf(app: { readonly version?: string }): ProxyView<FastifyRequest> {
  const trust = trustOf(trustProxyOf(app), app);
  return {
    trustOf: () => trust,
    trustOfAll: trust,
    isForwarded: (request) => 'x-forwarded-for' in request.headers,
    advice:
      'give rateLimit the addresses of your proxies as trustedProxies, or set trustProxy to them',
  };
}

/** A count of proxies is believed up to 5.12.0; since then nobody is, where there is one. */
function trustOf(setting: unknown, { version = '' }: { readonly version?: string }): ProxyTrust {
  if (setting === true) return 'anybody';
  const [, minor = 0, patch = 0] = version.split('.').map(Number.parseFloat);
  const ignoresCount = minor > 12 || (minor === 12 && patch > 0);
  if (typeof setting === 'number' && setting > 0 && ignoresCount) return 'count-ignored';
  return setting ? 'named' : 'nobody';
}

/**
 * Fastify keeps its options under a symbol and shows no `trustProxy` in `initialConfig`. Where the
 * symbol is not found, nobody is taken to be trusted.
 */
function trustProxyOf(app: object): unknown {
  for (let at: object | null = app; at !== null; at = Object.getPrototypeOf(at)) {
    const symbols = Object.getOwnPropertySymbols(at);
    const options = symbols.find(({ description }) => description === 'fastify.options');
    if (options !== undefined) {
      return (at as { [options]?: { trustProxy?: unknown } })[options]?.trustProxy;
    }
  }
  return undefined;
}
