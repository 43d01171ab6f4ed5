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
import { rateLimit as forFetch, type RateLimitOptions as ForFetch, withRateLimit } from '@rl/fetch';
import {
  type PluginOptions, rateLimit as forFastify, rateLimitHook, type RateLimitOptions as ForFastify,
  type RouteRateLimitOptions,
} from '@rl/fastify';
import { endpointOf, rateLimit as forKoa, type RateLimitOptions as ForKoa } from '@rl/koa';
import {
  type ClientCount, toExpressRateLimitStore, toFastifyRateLimitStore, toNestThrottlerStorage,
} from '@rl/migrate';
import { publishMetrics as toOtel } from '@rl/otel';
import { publishMetrics as toPrometheus } from '@rl/prometheus';
import type { Express, Request } from 'express';
import { fastify as createFastify, type FastifyInstance } from 'fastify';
import { Cluster, Redis } from 'ioredis';
import type { Middleware } from 'koa';
import { metrics } from '@opentelemetry/api';
import { type OpenMetricsContentType, Registry } from 'prom-client';

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
const inherited: PluginOptions = { global: false, store: shared, fallback: 'open', hook: 'preHandler' };
server.register(forFastify, inherited);
server.register(forFastify, { global: true, limit: 1, window: '1m', hook: 'preParsing' });
const ofRoute: RouteRateLimitOptions = {
  limit: async () => 5,
  window: '1m',
  key: async (request) => request.headers.host,
  override: true,
};
server.get('/limited', { config: { rl: ofRoute } }, () => 'ok');
server.get('/inline', { config: { rl: { limit: async () => 5, window: '1m', key: async ({ ip }) => ip } } }, () => 'ok');
server.get('/keys', { config: { rl: { keys: ({ ip }) => ({ free: ip }), hook: 'preHandler' } } }, () => 'ok');
server.get('/free', { config: { rl: false } }, () => 'ok');
server.route({ method: ['GET', 'POST'], url: '/both', config: { rl: { override: true, cost: 2 } }, handler: () => 'ok' });
const hook = rateLimitHook(server, { limit: 1, window: '1m', name: 'unknown' });
server.addHook('preParsing', hook).addHook('onRequest', hook);
server.setNotFoundHandler({ preHandler: hook, preValidation: [hook] }, (_request, reply) => reply.send());
server.get<{ Params: { id: string } }>('/:id', { onRequest: hook, preParsing: hook, preHandler: [hook] }, () => 'ok');
const http2 = createFastify({ http2: true });
void http2.register(forFastify, { limit: 1, window: '1m' });
http2.get('/', { config: { rl: { limit: 1, window: '1m' } } }, () => 'ok');
// @ts-expect-error: no such option
server.register(forFastify, { max: 5, window: '1m' });
// @ts-expect-error: a limit is not inherited
server.register(forFastify, { global: false, limit: 5, window: '1m' });
// @ts-expect-error: no such option
server.get('/max', { config: { rl: { max: 5, window: '1m' } } }, () => 'ok');
// @ts-expect-error: a route has a limit, or false
server.get('/true', { config: { rl: true } }, () => 'ok');
// @ts-expect-error: not a hook that comes before the handler
server.get('/late', { config: { rl: { limit: 1, window: '1m', hook: 'onSend' } } }, () => 'ok');

const koa: ForKoa = { limit: async () => 1, window: '1m', key: (ctx) => endpointOf(ctx) };
export const middleware: Middleware = forKoa(koa);
// @ts-expect-error: a key is a text or a number
forKoa({ limit: 1, window: '1m', key: () => ({}) });

const fetched: ForFetch<{ ip: string }> = { limit: 1, window: '1m', addressOf: (_, { ip }) => ip };
export const handler: (request: globalThis.Request, context: { ip: string }) => Promise<Response> = withRateLimit(
  fetched, async (request: globalThis.Request, { ip }: { ip: string }) => new Response(request.url + ip),
);
export const denied = async (): Promise<Response | undefined> =>
  (await forFetch(fetched)(new globalThis.Request('http://a'), { ip: '::1' })).denied;
// @ts-expect-error: the context is missing
forFetch(fetched)(new globalThis.Request('http://a'));
export const count: ClientCount | Promise<ClientCount> =
  toExpressRateLimitStore({ store: shared, name: 'old', algorithm }).increment('ann');
new (toFastifyRateLimitStore({ limiter, policy: 'free' }))({}).incr('ann', (error, result) => {
  if (error === null) console.log(result?.current, result?.ttl);
}, 1000, 1);
export const isBlocked: Promise<boolean> = toNestThrottlerStorage({ store: shared })
  .increment('ann', 1000, 1, 0, 'default')
  .then((record) => record.isBlocked);
export const stops: (() => void)[] = [
  toPrometheus(limiter),
  toPrometheus([limiter, limiter], { registry: new Registry() }),
  toPrometheus(limiter, { registry: new Registry<OpenMetricsContentType>() }),
  toOtel([limiter], { meter: metrics.getMeter('app') }),
];
// @ts-expect-error: no such option
toPrometheus(limiter, { registers: [new Registry()] });
// @ts-expect-error: not a limiter
toOtel(shared);
// @ts-expect-error: the limit is the middleware's
toNestThrottlerStorage({ limit: 1 });
`;
