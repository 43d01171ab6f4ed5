import {
  appendToField,
  type RateLimitOptions as CoreOptions,
  Gate,
  type Verdict,
} from '@rl/core/http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { PROXIES } from './proxies.js';

export { endpointOf } from './endpoint.js';

/** What `rateLimit` takes: one policy in place, or a limiter and the keys of a request. */
export type RateLimitOptions = CoreOptions<Request>;

/**
 * Middleware that charges each request that reaches it to the network of `req.ip`, or to what `key`
 * or `keys` says, and answers 429 with a problem document where the quota is spent, or 503 where
 * `fallback` says so while the store cannot answer: nothing after it runs then. Where key or cost
 * fail, the error goes to `next`.
 *
 * A response that others have sent meanwhile, such as a timeout, is left alone and the request goes
 * no further.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function rateLimit(options: RateLimitOptions): RequestHandler {
  const gate = new Gate<Request>(options, (req) => req.ip, PROXIES);
  return (req, res, next) => {
    const verdict = gate.judge(req);
    if (verdict === undefined) return next();
    if (!('then' in verdict)) return answer(verdict, res, next);
    verdict
      .then((later) => answer(later, res, next))
      .catch((error) => {
        if (!res.headersSent) next(error);
      });
  };
}

function answer(verdict: Verdict | undefined, res: Response, next: NextFunction): void {
  if (res.headersSent) return;
  if (verdict === undefined) {
    next();
    return;
  }
  for (const [name, value] of verdict.headers) {
    res.setHeader(name, appendToField(res.getHeader(name), value));
  }
  const { refusal } = verdict;
  if (refusal === undefined) {
    next();
    return;
  }
  for (const [name, value] of refusal.headers) res.setHeader(name, value);
  // Not `res.send`, which would add a charset and an ETag.
  res.status(refusal.status).end(refusal.body);
}
