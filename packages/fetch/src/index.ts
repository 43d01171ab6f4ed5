import { checkFunction, Gate, type Verdict as GateVerdict } from '@rl/core/http';
import type { Call, RateLimitOptions } from './call.js';
import { readerOf } from './call.js';
import { Verdict } from './verdict.js';

export { content } from '@rl/core/http';
export type { Call, RateLimitOptions } from './call.js';
export { type StatusPageOptions, statusPage } from './status-page.js';
export type { Verdict } from './verdict.js';

/**
 * A function that charges a request to the network of its `addressOf`, or to what `key` or `keys` says,
 * and gives the verdict: at once where it can be had at once, else as a promise. It throws, or rejects,
 * where a function of the options fails, and with the denial as an error where `body` is `error`.
 *
 * A request that meets one of these twice is charged once: the second verdict lets it pass.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function rateLimit<Context = undefined>(
  options: RateLimitOptions<Context>,
): (
  request: Request,
  ...context: undefined extends Context ? [context?: Context] : [context: Context]
) => Verdict | Promise<Verdict> {
  const { addressOf, ...rest } = options ?? {};
  const isCharged = options?.key !== undefined || options?.keys !== undefined;
  if (addressOf !== undefined || !isCharged) {
    checkFunction('addressOf', addressOf, 'the request and its context, where there is no key');
  }
  const gate = new Gate<Call<Context>>(rest as typeof options, readerOf(addressOf));
  return (request, ...[context]) => {
    const verdict = gate.judge({ request, context: context as Context });
    const of = (found: GateVerdict | undefined): Verdict => new Verdict(request, found);
    return verdict !== undefined && 'then' in verdict ? verdict.then(of) : of(verdict);
  };
}

/**
 * A handler behind a limiter: it runs where the request is allowed, and its response tells of the
 * quota. The first argument after the request, such as that of a Next.js route, is the context.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function withRateLimit<Rest extends readonly unknown[]>(
  options: RateLimitOptions<Rest[0]>,
  handler: (request: Request, ...rest: Rest) => Response | Promise<Response>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  const limit = rateLimit<unknown>(options as RateLimitOptions<unknown>);
  return async (request, ...rest) => {
    const given = limit(request, rest[0]);
    const verdict = given instanceof Verdict ? given : await given;
    if (verdict.denied !== undefined) return verdict.denied;
    let response: Response;
    try {
      response = await handler(request, ...rest);
    } catch (thrown) {
      throw verdict.fail(thrown);
    }
    return verdict.finish(response);
  };
}
