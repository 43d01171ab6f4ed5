import type { ProxyView } from '@rl/core/http';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** What the option `trustProxy` says, to warn where it makes `request.ip` worthless. */
export function proxiesOf(app: FastifyInstance): ProxyView<FastifyRequest> {
  const setting = trustProxyOf(app);
  return {
    trustOf() {
      if (setting === true) return 'anybody';
      if (typeof setting === 'number' && setting > 0) return 'count-ignored';
      return setting ? 'named' : 'nobody';
    },
    isForwarded: (request) => 'x-forwarded-for' in request.headers,
    advice: 'set trustProxy to the addresses of your proxies',
  };
}

/**
 * Fastify keeps its options under a symbol and shows no `trustProxy` in `initialConfig`. Where the
 * symbol is not found, nobody is taken to be trusted.
 */
function trustProxyOf(app: FastifyInstance): unknown {
  for (let at: object | null = app; at !== null; at = Object.getPrototypeOf(at)) {
    const symbols = Object.getOwnPropertySymbols(at);
    const options = symbols.find(({ description }) => description === 'fastify.options');
    if (options !== undefined) {
      return (at as { [options]?: { trustProxy?: unknown } })[options]?.trustProxy;
    }
  }
  return undefined;
}
