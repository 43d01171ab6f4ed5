import {
  type RateLimitOptions as CoreOptions,
  Gate,
  nodeReader,
  type RequestReader,
  type ResponseWriter,
  type Verdict,
  watchResponse,
  writeHeaders,
} from '@rl/core/http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { PROXIES } from './proxies.js';

export { content } from '@rl/core/http';
export { endpointOf } from './endpoint.js';

/** What `rateLimit` takes: one policy in place, or a limiter and the keys of a request. */
export type RateLimitOptions = CoreOptions<Request>;

const READER: RequestReader<Request> = nodeReader(
  (req) => req,
  (req) => req.ip,
  PROXIES,
);

const WRITER: ResponseWriter<Response> = {
  get: (res, name) => res.getHeader(name),
  set: (res, name, value) => void res.setHeader(name, value),
};

/**
 * Middleware that charges each request that reaches it to the network of `req.ip`, or to what `key`
 * or `keys` says, and answers 429 where the quota is spent, or 503 where `fallback` says so while the
 * store cannot answer: nothing after it runs then. Where a function of the options fails, the error
 * goes to `next`.
 *
 * A response that others have sent meanwhile, such as a timeout, is left alone and the request goes
 * no further. A request that meets one middleware twice is charged once.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function rateLimit(options: RateLimitOptions): RequestHandler {
  const gate = new Gate<Request>(options, READER);
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
  if (verdict !== undefined) watchResponse(res, verdict.onEnd);
  if (res.headersSent) return;
  if (verdict !== undefined) writeHeaders(verdict, res, WRITER);
  const refusal = verdict?.refusal;
  // Not `res.send`, which would add a charset and an ETag.
  if (refusal === undefined) next();
  else if (refusal.error !== undefined) next(refusal.error);
  else res.status(refusal.status).end(refusal.body);
}
