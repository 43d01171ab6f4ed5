import { endpointName } from '@rl/core/http';
import type { FastifyRequest } from 'fastify';

/**
 * The route that the request was matched to, as part of a key: its methods and its pattern,
 * `GET /verify/:code`, whatever the client wrote for it. Known in every hook; undefined where no
 * route was found.
 */
export function endpointOf(request: FastifyRequest): string | undefined {
  const { method, url } = request.routeOptions;
  return url === undefined ? undefined : endpointName([method].flat(), url);
}
