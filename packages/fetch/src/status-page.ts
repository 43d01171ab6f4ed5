import { type StatusPageOptions as CoreOptions, parseMountPath, StatusPage } from '@rl/core/status';

/** What `statusPage` takes: limiters, who may see the page, and where it is. */
export type StatusPageOptions = CoreOptions<Request> & {
  /** Where the page is. Default `"/ratelimit"`. */
  path?: string | undefined;
};

/**
 * A page that says whether a key is denied by this replica's limiters, and why, as a handler of the
 * requests below `path`; elsewhere it answers 404. It rejects where `allow` fails.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function statusPage(options: StatusPageOptions): (request: Request) => Promise<Response> {
  const { path, ...rest } = options ?? {};
  const mount = parseMountPath(path);
  const page = new StatusPage<Request>(rest);
  return async (request) => {
    const { method } = request;
    const { pathname } = new URL(request.url);
    const header = (name: string): string | null => request.headers.get(name);
    const { status, headers, body } = await page.answer(request, {
      method,
      path: pathname,
      mount,
      header,
    });
    return new Response(method === 'HEAD' ? null : body, { status, headers });
  };
}
