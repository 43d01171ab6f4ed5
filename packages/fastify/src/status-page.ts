import { type StatusPageOptions as CoreOptions, StatusPage } from '@rl/core/status';
import type { FastifyPluginAsync, FastifyRequest, RegisterOptions } from 'fastify';

/** What `statusPage` takes: limiters, and who may see the page. */
export type StatusPageOptions = CoreOptions<FastifyRequest>;

/**
 * A page that says whether a key is denied by this replica's limiters, and why:
 * `app.register(statusPage, { prefix: '/ratelimit', ...options })`. Where `allow` fails, the error goes
 * to the error handler. It rejects where options cannot be used.
 */
export const statusPage: FastifyPluginAsync<StatusPageOptions> = async (app, options) => {
  const {
    prefix: _,
    logLevel: __,
    logSerializers: ___,
    ...rest
  } = options as StatusPageOptions & RegisterOptions;
  const page = new StatusPage<FastifyRequest>(rest);
  // A method that is not answered is refused whatever its body.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  for (const url of ['/', '/*']) {
    app.all(url, async (request, reply) => {
      const [path = ''] = request.url.split('?');
      const header = (name: string): string | undefined => request.headers[name]?.toString();
      const { method } = request;
      const call = { method, path, mount: app.prefix.replace(/\/+$/, ''), header };
      const { status, headers, body } = await page.answer(request, call);
      return reply.code(status).headers(headers).send(body);
    });
  }
};
