import {
  type RateLimitOptions as CoreOptions,
  Gate,
  nodeReader,
  type ResponseWriter,
  type Verdict,
  watchResponse,
  writeHeaders,
} from '@rl/core/http';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { proxiesOf } from './proxies.js';

export { content } from '@rl/core/http';
export { endpointOf } from './endpoint.js';

/** What `rateLimit` takes: one policy in place, or a limiter and the keys of a request. */
export type RateLimitOptions = CoreOptions<FastifyRequest>;

const WRITER: ResponseWriter<FastifyReply> = {
  get: (reply, name) => reply.getHeader(name),
  set: (reply, name, value) => void reply.header(name, value),
};

/**
 * Plugin that charges each request to the network of `request.ip`, or to what `key` or `keys` says,
 * and answers 429 where the quota is spent, or 503 where `fallback` says so while the store cannot
 * answer: nothing after it runs then. Where a function of the options fails, the error goes to the
 * error handler.
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
  const reader = nodeReader<FastifyRequest>(
    (request) => request.raw,
    (request) => request.ip,
    proxiesOf(app),
  );
  const gate = new Gate<FastifyRequest>(options, reader);
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

function answer(
  verdict: Verdict | undefined,
  reply: FastifyReply,
  next: (error?: Error) => void,
): void {
  if (verdict !== undefined) watchResponse(reply.raw, verdict.onEnd);
  if (isSent(reply)) return;
  if (verdict !== undefined) writeHeaders(verdict, reply, WRITER);
  const refusal = verdict?.refusal;
  if (refusal === undefined) next();
  else if (refusal.error !== undefined) next(refusal.error);
  // Bytes: to a text Fastify would add a charset.
  else reply.code(refusal.status).send(Buffer.from(refusal.body));
}

function isSent(reply: FastifyReply): boolean {
  return reply.sent || reply.raw.headersSent;
}
