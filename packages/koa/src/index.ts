import {
  appendToField,
  type RateLimitOptions as CoreOptions,
  Gate,
  type Verdict,
} from '@rl/core/http';
import type { Context, Middleware, Next } from 'koa';
import { PROXIES } from './proxies.js';

export { endpointOf } from './endpoint.js';

/** What `rateLimit` takes: one policy in place, or a limiter and the keys of a request. */
export type RateLimitOptions = CoreOptions<Context>;

/**
 * Middleware that charges each request that reaches it to the network of `ctx.ip`, or to what `key`
 * or `keys` says, and answers 429 with a problem document where the quota is spent, or 503 where
 * `fallback` says so while the store cannot answer: nothing after it runs then. Where key or cost
 * fail, it throws.
 *
 * A response that others have sent meanwhile, such as a timeout, is left alone and the request goes
 * no further.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  const gate = new Gate<Context>(options, (ctx) => ctx.ip, PROXIES);
  return (ctx, next) => {
    const verdict = gate.judge(ctx);
    if (verdict === undefined) return next();
    if (!('then' in verdict)) return answer(verdict, ctx, next);
    return verdict.then((later) => answer(later, ctx, next));
  };
}

function answer(verdict: Verdict | undefined, ctx: Context, next: Next): Promise<void> | undefined {
  if (ctx.headerSent) return undefined;
  if (verdict === undefined) return next();
  for (const [name, value] of verdict.headers) {
    ctx.res.setHeader(name, appendToField(ctx.res.getHeader(name), value));
  }
  const { refusal } = verdict;
  if (refusal === undefined) return next();
  for (const [name, value] of refusal.headers) ctx.set(name, value);
  ctx.status = refusal.status;
  ctx.body = refusal.body;
  return undefined;
}
