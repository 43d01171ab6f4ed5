/** A TypeScript program that uses the main door. */
const MAIN_DOOR = `
import {
  ALGORITHMS, type Algorithm, addressKey, combineKeys, type Clock, createLimiter, type Decision, isRateLimitError,
  type Limiter, memoryStore, secretKey, type Store,
} from '@rl/core';

const clock: Clock = { nowMs: () => 0 };
const store: Store = memoryStore({ clock, maxKeys: 10 });
const algorithm: Algorithm = ALGORITHMS[0];
const limiter: Limiter<'free' | 'paid'> = createLimiter({
  store,
  policies: {
    free: { limit: 1, window: '1m', algorithm },
    paid: { limit: 2, window: 1000, burst: 3 },
  },
});
export const decision: Promise<Decision> = limiter.consume({ free: 'ann' }, { cost: 2 });
export const wait: Promise<number | undefined> = decision.then(
  (made) => (made.allowed ? 0 : made.retryAfterMs),
  (error: unknown) => (isRateLimitError(error) && error.retryable ? 1 : undefined),
);
export const key: string = combineKeys(addressKey('::1') ?? 'none', secretKey('k', 'secret'), 7);
// @ts-expect-error: a part may be missing
combineKeys(addressKey('::1'));
// @ts-expect-error: a secret may be missing
secretKey('k', undefined as string | undefined);
// @ts-expect-error: the limiter has no such policy
void limiter.consume({ fre: 'ann' });
`;

/** And every other door and adapter, with real frameworks and a real Redis client. */
export const ALL_DOORS: string = `${MAIN_DOOR}
import { content, Gate, nodeReader, type NodeRequest, type Verdict } from '@rl/core/http';
import { redisStore } from '@rl/core/redis';
import { frozenRedisStore, ManualClock } from '@rl/core/testing';
import { rateLimit as forExpress, type RateLimitOptions as ForExpress } from '@rl/express';
import { rateLimit as forFastify, type RateLimitOptions as ForFastify } from '@rl/fastify';
import { endpointOf, rateLimit as forKoa, type RateLimitOptions as ForKoa } from '@rl/koa';
import type { Express, Request } from 'express';
import type { FastifyInstance } from 'fastify';
import { Cluster, Redis } from 'ioredis';
import type { Middleware } from 'koa';

const redis = new Redis({ lazyConnect: true });
const shared: Store = redisStore(redis, { prefix: 'app' });
export const stores: Store[] = [
  shared, redisStore(new Cluster([])), frozenRedisStore(redis, new ManualClock()),
];
declare const request: NodeRequest;
const reader = nodeReader<NodeRequest>((own) => own, (own) => own.socket?.remoteAddress);
const gate = new Gate<NodeRequest>({ limit: 1, window: '1m', store: shared }, reader);
export const verdict: Verdict | Promise<Verdict | undefined> | undefined = gate.judge(request);

declare const app: Express;
const express: ForExpress = {
  limit: 1,
  window: '1m',
  key: async (req) => req.get('x-api-key'),
  missingKey: 'deny',
  cost: (req: Request) => req.path.length,
  skip: async (req) => req.path === '/health',
  methods: ['GET', 'POST'],
  preflight: 'charge',
  headers: { formats: ['draft-11', 'legacy-epoch', (told) => ({ 'x-left': told[0]?.remaining ?? 0 })] },
  body: (denial, req) => content('text/html', req.path + denial.detail),
  refundWhen: ({ status = 0 }) => status >= 500,
  settle: async () => ({ default: 2 }),
  onDenied: (denial) => denial.violatedPolicies,
  retryJitter: '10s',
};
app.use(forExpress(express), forExpress({ limiter, keys: (req) => ({ paid: req.ip ?? '' }) }));
app.get('/', forExpress({ limit: 1, window: 1000, name: 'route', store: shared }));
// @ts-expect-error: no such option
forExpress({ max: 5, window: '1m' });
// @ts-expect-error: a limiter needs the keys
forExpress({ limiter });

declare const server: FastifyInstance;
const fastify: ForFastify = { limit: 1, window: '1m', key: (request) => request.ip };
server.register(forFastify, fastify);
server.register(forFastify, { limiter, keys: async ({ ip }) => ({ free: ip }), enabled: false });
// @ts-expect-error: no such option
server.register(forFastify, { max: 5, window: '1m' });

const koa: ForKoa = { limit: async () => 1, window: '1m', key: (ctx) => endpointOf(ctx) };
export const middleware: Middleware = forKoa(koa);
// @ts-expect-error: a key is a text or a number
forKoa({ limit: 1, window: '1m', key: () => ({}) });
`;
