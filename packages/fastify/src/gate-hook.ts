import { type Answering, follow, type Gate } from '@rl/core/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The hooks in which a request can be charged, in the order in which Fastify runs them. */
export const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const;
export type Hook = (typeof HOOKS)[number];

/** Fits each of these hooks. The last argument is what goes on; `preParsing` has one before it. */
export type GateHook = (
  request: FastifyRequest,
  reply: FastifyReply,
  next: unknown,
  last?: unknown,
) => void;

const ANSWERING: Answering<FastifyReply> = {
  get: (reply, name) => reply.getHeader(name),
  set: (reply, name, value) => void reply.header(name, value),
  nodeResponseOf: (reply) => reply.raw,
  isSent: (reply) => reply.sent || reply.raw.headersSent,
  // Bytes: to a text Fastify would add a charset.
  send: (reply, { status, body }) => void reply.code(status).send(Buffer.from(body)),
};

/** The hook that has each request judged by a gate. */
export function gateHook(gate: Gate<FastifyRequest>): GateHook {
  return (request, reply, next, last = next) => charge(gate, request, reply, last as Next);
}

/** Goes on, or with an error to the error handler. */
export type Next = (error?: Error) => void;

/** Has a request judged, and answers it where it is denied; without a gate it goes on. */
export function charge(
  gate: Gate<FastifyRequest> | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  next: Next,
): void {
  follow(gate?.judge(request), reply, next, ANSWERING);
}
