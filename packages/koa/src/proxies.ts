import type { ProxyView } from '@rl/core/http';
import type { Context } from 'koa';

/** What `proxy` and `maxIpsCount` of the app say, to warn where they make `ctx.ip` worthless. */
export const PROXIES: ProxyView<Context> = {
  trustOf({ app }) {
    if (!app.proxy) return 'nobody';
    return app.maxIpsCount > 0 ? 'named' : 'anybody';
  },
  isForwarded: (ctx) => 'x-forwarded-for' in ctx.headers,
  advice: 'give rateLimit the addresses of your proxies as trustedProxies',
};
