import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FallbackOptions, Store } from '@rl/core';
import { rateLimit } from '@rl/express';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
} from 'express';
import { POLICY, WINDOW_MS } from './quota.js';

/** The same route under either limiter. */
export const PATHS = { perReplica: '/per-replica', shared: '/shared' } as const;

/** Which limiter: one in each replica, or one quota for all. */
export type Mode = keyof typeof PATHS;

/**
 * The service of the demo. Its two routes do the same under the same policy; the one difference
 * is the store. Without one, a limiter counts in the memory of its own replica.
 *
 * @param replicas how many of the service there will be
 */
export function createService(limit: number, store: Store, replicas: number): Express {
  const policy = { name: POLICY, limit, window: WINDOW_MS, key: apiKeyOf };
  const app = express();
  app.get(PATHS.perReplica, rateLimit(policy), answer);
  app.get(PATHS.shared, rateLimit({ ...policy, store, fallback: fallbackOf(replicas) }), answer);
  app.use(answerFailure);
  return app;
}

/**
 * A replica on a machine that is busy shall not decide without the store: it waits for it this long.
 *
 * @param replicas among how many the quota is divided where it has to, after all
 */
export function fallbackOf(replicas: number): FallbackOptions {
  return { deadline: '1s', replicas };
}

/** The partition key: who pays, whichever machine calls and whichever replica answers. */
function apiKeyOf(request: Request): string {
  return request.get('x-api-key') ?? 'anonymous';
}

const answer: RequestHandler = (_request, response) => {
  response.json({ ok: true });
};

/** Tells the caller what went wrong, so that the demo can report it. Four arguments by contract. */
const answerFailure: ErrorRequestHandler = (error, _request, response, _next) => {
  response.status(500).send(error instanceof Error ? error.message : String(error));
};

/** A service that answers on a free port of 127.0.0.1. */
export interface Listening {
  readonly port: number;
  /** Ends it at once, open connections too. */
  close(): Promise<void>;
}

/** Resolves when the service answers. */
export function listen(app: Express): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server: Server = app.listen(0, '127.0.0.1', (error?: Error) => {
      if (error) return reject(error);
      const { port } = server.address() as AddressInfo;
      resolve({ port, close: () => closeServer(server) });
    });
    // Longer than the demo: else the server could end a socket just as a client reuses it.
    server.keepAliveTimeout = 120_000;
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
