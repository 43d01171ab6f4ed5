import {
  type StatusPageOptions as CoreOptions,
  isBelow,
  parseMountPath,
  StatusPage,
} from '@rl/core/status';
import type { Context, Middleware } from 'koa';

/** What `statusPage` takes: limiters, who may see the page, and where it is. */
export type StatusPageOptions = CoreOptions<Context> & {
  /** Where the page is. Default `"/ratelimit"`. */
  path?: string | undefined;
};

/**
 * A page that says whether a key is denied by this replica's limiters, and why: `app.use(statusPage(options))`.
 * Requests elsewhere go on. Where `allow` fails, it throws.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function statusPage(options: StatusPageOptions): Middleware {
  const { path, ...rest } = options ?? {};
  const mount = parseMountPath(path);
  const page = new StatusPage<Context>(rest);
  return async (ctx, next) => {
    if (!isBelow(ctx.path, mount)) return next();
    const header = (name: string): string => ctx.get(name);
    const { method } = ctx;
    const { status, headers, body } = await page.answer(ctx, {
      method,
      path: ctx.path,
      mount,
      header,
    });
    ctx.status = status;
    ctx.set(headers);
    ctx.body = body;
  };
}
