/** What is imported where, and a use of it, as text that is JavaScript and TypeScript. */
export interface Door {
  readonly names: readonly string[];
  /** An expression over these names that gives true. */
  readonly use: string;
}

const EXPRESS_OR_KOA: Door = {
  names: ['endpointOf', 'rateLimit', 'statusPage'],
  use: "typeof rateLimit({ limit: 1, window: '1m' }) === 'function' && endpointOf({}) === undefined",
};

/** A Redis client that is never called. */
const CLIENT = '{ evalsha: async () => 0, eval: async () => 0, del: async () => 0 }';

/** Every way in: by package, then by its key in `exports`. */
export const DOORS: Readonly<Record<string, Readonly<Record<string, Door>>>> = {
  '@rl/core': {
    '.': {
      names: [
        ...['createLimiter', 'memoryStore', 'isRateLimitError', 'ALGORITHMS'],
        ...['addressKey', 'combineKeys', 'secretKey'],
      ],
      use: `createLimiter({ policies: { a: { limit: 1, window: '1m' } }, store: memoryStore() })
        .tryConsume({ a: 'ann' })?.allowed === true && !isRateLimitError(ALGORITHMS) &&
        combineKeys(addressKey('::ffff:192.0.2.1'), secretKey('k')).startsWith('192.0.2.1|')`,
    },
    './redis': {
      names: ['redisStore'],
      use: `typeof redisStore(${CLIENT}).consume === 'function'`,
    },
    './http': {
      names: ['Gate', 'nodeReader', 'content', 'refuseUpgrade'],
      use: `new Gate(
          { limit: 1, window: '1m', enabled: false },
          nodeReader(() => ({ headers: {}, socket: null }), () => ''),
        ).judge({}) === undefined && content('text/html', '').data === '' &&
        !refuseUpgrade({}, undefined)`,
    },
    './metrics': {
      names: ['LimiterSum', 'limitersOf'],
      use: 'new LimiterSum().add(limitersOf([])) !== undefined && new LimiterSum().read().owed === 0',
    },
    './status': {
      names: ['StatusPage', 'isBelow'],
      use: "typeof StatusPage === 'function' && isBelow('/ratelimit/facts', '/ratelimit')",
    },
    './testing': {
      names: ['ManualClock', 'frozenRedisStore'],
      use: `typeof frozenRedisStore(${CLIENT}, new ManualClock()).consume === 'function'`,
    },
  },
  '@rl/fetch': {
    '.': {
      names: ['rateLimit', 'statusPage', 'withRateLimit'],
      use: `rateLimit({ limit: 0, window: '1m', key: () => 'a' })(new Request('http://a')).denied.status === 429 &&
        typeof withRateLimit({ limit: 1, window: '1m', key: () => 'a' }, () => Response.json({})) === 'function'`,
    },
  },
  '@rl/express': { '.': EXPRESS_OR_KOA },
  '@rl/koa': { '.': EXPRESS_OR_KOA },
  // Called by Fastify only: here, by something that takes hooks.
  '@rl/fastify': {
    '.': {
      names: ['endpointOf', 'rateLimit', 'rateLimitHook', 'statusPage'],
      use: `endpointOf({ routeOptions: {} }) === undefined && await (async () => {
        const hooks = new Set();
        const app = { server: {}, version: '5.0.0', addHook: (name) => void hooks.add(name) };
        await rateLimit(app, { limit: 1, window: '1m' });
        const hook = rateLimitHook(app, { limit: 1, window: '1m', name: 'hook' });
        return [...hooks].sort().join() === 'onClose,onRequest,onRoute' && hook.length === 3;
      })()`,
    },
  },
  '@rl/prometheus': {
    '.': {
      names: ['publishMetrics'],
      use: "typeof publishMetrics([]) === 'function'",
    },
  },
  '@rl/otel': {
    '.': {
      names: ['publishMetrics'],
      use: "typeof publishMetrics([]) === 'function'",
    },
  },
  '@rl/migrate': {
    '.': {
      names: ['toExpressRateLimitStore', 'toFastifyRateLimitStore', 'toNestThrottlerStorage'],
      use: `toExpressRateLimitStore({ limit: 1, window: '1m' }).increment('ann').totalHits === 1 &&
        typeof new (toFastifyRateLimitStore())({}).incr === 'function' &&
        (await toNestThrottlerStorage().increment('ann', 1000, 1, 0, 'a')).totalHits === 1`,
    },
  },
};

/** What one writes to import a door: `@rl/core/redis`. */
export function specifierOf(name: string, door: string): string {
  return name + door.slice(1);
}
