import { type StatusPageOptions as CoreOptions, StatusPage } from '@rl/core/status';
import type { Request, RequestHandler } from 'express';

/** What `statusPage` takes: limiters, and who may see the page. */
export type StatusPageOptions = CoreOptions<Request>;

/**
 * A page that says whether a key is denied by this replica's limiters, and why:
 * `app.use('/ratelimit', statusPage(options))`. Where `allow` fails, the error goes to `next`.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function statusPage(options: StatusPageOptions): RequestHandler {
  const page = new StatusPage<Request>(options);
  return (req, res, next) => {
    const { method, baseUrl: mount } = req;
    const call = { method, mount, path: mount + req.path, header: (name: string) => req.get(name) };
    page
      .answer(req, call)
      // Not `res.send`, which would add an ETag.
      .then(({ status, headers, body }) => void res.status(status).set(headers).end(body))
      .catch(next);
  };
}
