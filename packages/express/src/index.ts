import {
  type Answering,
  type RateLimitOptions as CoreOptions,
  follow,
  Gate,
  nodeReader,
  type RequestReader,
} from '@rl/core/http';
import type { Request, RequestHandler, Response } from 'express';
import { PROXIES } from './proxies.js';

export { clientIp, content } from '@rl/core/http';
export { endpointOf } from './endpoint.js';
export { type StatusPageOptions, statusPage } from './status-page.js';

/** What `rateLimit` takes: one policy in place, or a limiter and the keys of a request. */
export type RateLimitOptions = CoreOptions<Request>;

const READER: RequestReader<Request> = nodeReader(
  (req) => req,
  (req) => req.ip,
  PROXIES,
);

const ANSWERING: Answering<Response> = {
  get: (res, name) => res.getHeader(name),
  set: (res, name, value) => void res.setHeader(name, value),
  nodeResponseOf: (res) => res,
  isSent: (res) => res.headersSent,
  // Not `res.send`, which would add a charset and an ETag.
  send: (res, { status, body }) => void res.status(status).end(body),
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
  return (req, res, next) => follow(gate.judge(req), res, next, ANSWERING);
}
