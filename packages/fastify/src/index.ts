import {
  appendToField,
  type RateLimitOptions as CoreOptions,
  Gate,
  type Verdict,
} from '@rl/core/http';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { proxiesOf } from './proxies.js';

export { endpointOf } from './endpoint.js';

/** What `rateLimit` takes: one policy in place, or a limiter and the keys of a request. */
export type RateLimitOptions = CoreOptions<FastifyRequest>;

/**
 * Plugin that charges each request to the network of `request.ip`, or to what `key` or `keys` says,
 * and answers 429 with a problem document where the quota is spent, or 503 where `fallback` says so
 * while the store cannot answer: nothing after it runs then. Where key or cost fail, the error goes to
 * the error handler.
 *
 * It is an `onRequest` hook of the context it is registered in, with the contexts within: routes of
 * the parent are not limited. In the root context that includes requests to unknown paths.
 *
 * A response that others have sent meanwhile, such as a timeout, is left alone and the request goes
 * no further.
 */
export const rateLimit: FastifyPluginAsync<RateLimitOptions> = plugin(limitRequests, {
  name: '@rl/fastify',
  fastify: '5.x',
});

/** In a promise, so that options that cannot be used reject; the hook itself is not. */
async function limitRequests(app: FastifyInstance, options: RateLimitOptions): Promise<void> {
  const gate = new Gate<FastifyRequest>(options, (request) => request.ip, proxiesOf(app));
  app.addHook('onRequest', (request, reply, next) => {
    const verdict = gate.judge(request);
    if (verdict === undefined) return next();
    if (!('then' in verdict)) return answer(verdict, reply, next);
    verdict
      .then((later) => answer(later, reply, next))
      .catch((error) => {
        if (!isSent(reply)) next(error);
      });
  });
  app.addHook('onClose', () => gate.close());
}

function answer(verdict: Verdict | undefined, reply: FastifyReply, next: () => void): void {
  if (isSent(reply)) return;
  if (verdict === undefined) {
    next();
    return;
  }
  for (const [name, value] of verdict.headers) {
    reply.header(name, appendToField(reply.getHeader(name), value));
  }
  const { refusal } = verdict;
  if (refusal === undefined) {
    next();
    return;
  }
  for (const [name, value] of refusal.headers) reply.header(name, value);
  // Bytes: to a text Fastify would add a charset.
  reply.code(refusal.status).send(Buffer.from(refusal.body));
}

function isSent(reply: FastifyReply): boolean {
  return reply.sent || reply.raw.headersSent;
}
