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
import type { Context, Middleware, Next } from 'koa';
import { PROXIES } from './proxies.js';

export { clientIp, content } from '@rl/core/http';
export { endpointOf } from './endpoint.js';
export { type StatusPageOptions, statusPage } from './status-page.js';

/** What `rateLimit` takes: one policy in place, or a limiter and the keys of a request. */
export type RateLimitOptions = CoreOptions<Context>;

const READER: RequestReader<Context> = nodeReader(
  (ctx) => ctx.req,
  (ctx) => ctx.ip,
  PROXIES,
);

const WRITER: ResponseWriter<Context> = {
  get: (ctx, name) => ctx.res.getHeader(name),
  set: (ctx, name, value) => void ctx.res.setHeader(name, value),
};

/**
 * Middleware that charges each request that reaches it to the network of `ctx.ip`, or to what `key`
 * or `keys` says, and answers 429 where the quota is spent, or 503 where `fallback` says so while the
 * store cannot answer: nothing after it runs then. Where a function of the options fails, it throws.
 *
 * A response that others have sent meanwhile, such as a timeout, is left alone and the request goes
 * no further. A request that meets one middleware twice is charged once.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  const gate = new Gate<Context>(options, READER);
  return (ctx, next) => {
    const verdict = gate.judge(ctx);
    if (verdict === undefined) return next();
    if (!('then' in verdict)) return answer(verdict, ctx, next);
    return verdict.then((later) => answer(later, ctx, next));
  };
}

function answer(verdict: Verdict | undefined, ctx: Context, next: Next): Promise<void> | undefined {
  if (verdict !== undefined) watchResponse(ctx.res, verdict.onEnd);
  if (ctx.headerSent) return undefined;
  if (verdict !== undefined) writeHeaders(verdict, ctx, WRITER);
  const refusal = verdict?.refusal;
  if (refusal === undefined) return next();
  if (refusal.error !== undefined) throw refusal.error;
  ctx.status = refusal.status;
  ctx.body = typeof refusal.body === 'string' ? refusal.body : Buffer.from(refusal.body);
  return undefined;
}
