import type { ProxyView } from '@rl/core/http';
import type { Request } from 'express';

/** What the setting `trust proxy` says, to warn where it makes `req.ip` worthless. */
export const PROXIES: ProxyView<Request> = {
  trustOf(req) {
    const setting: unknown = req.app.get('trust proxy');
    if (setting === true) return 'anybody';
    return setting ? 'named' : 'nobody';
  },
  isForwarded: (req) => 'x-forwarded-for' in req.headers,
  advice:
    'give rateLimit the addresses of your proxies as trustedProxies, or set "trust proxy" to them',
};
