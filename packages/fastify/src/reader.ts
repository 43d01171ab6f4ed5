import { nodeReader, type RequestReader } from '@rl/core/http';
import type { FastifyRequest } from 'fastify';
import { proxiesOf } from './proxies.js';

/** How requests of this app are read. */
export function readerOf(app: { readonly version?: string }): RequestReader<FastifyRequest> {
  return nodeReader(
    (request) => request.raw,
    (request) => request.ip,
    proxiesOf(app),
  );
}
