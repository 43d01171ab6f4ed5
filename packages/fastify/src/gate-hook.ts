import { type Answering, follow, type Gate } from '@rl/core/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The hooks in which a request can be charged, in the order in which Fastify runs them. */
export const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const;
export type Hook = (typeof HOOKS)[number];

/** Fits each of these hooks. The last argument is what goes on; `preParsing` has one before it. */
export type GateHook = (request: FastifyRequest, reply: FastifyReply, ...rest: unknown[]) => void;

const ANSWERING: Answering<FastifyReply> = {
  get: (reply, name) => reply.getHeader(name),
  set: (reply, name, value) => void reply.header(name, value),
  nodeResponseOf: (reply) => reply.raw,
  isSent: (reply) => reply.sent || reply.raw.headersSent,
  // Bytes: to a text Fastify would add a charset.
  send: (reply, { status, body }) => void reply.code(status).send(Buffer.from(body)),
};

/**
 * The hook that has a request judged and answers it where it is denied.
 *
 * @param gateOf the gate for this request; undefined lets it pass
 */
export function gateHook(
  gateOf: (request: FastifyRequest) => Gate<FastifyRequest> | undefined,
): GateHook {
  return (request, reply, ...rest) =>
    follow(gateOf(request)?.judge(request), reply, rest.at(-1) as () => void, ANSWERING);
}
