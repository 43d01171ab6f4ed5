/** What is imported where, and a use of it, as text that is JavaScript and TypeScript. */
export interface Door {
  readonly names: readonly string[];
  /** An expression over these names that gives true. */
  readonly use: string;
}

const EXPRESS_OR_KOA: Door = {
  names: ['endpointOf', 'rateLimit'],
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
      names: ['Gate', 'nodeReader', 'content'],
      use: `new Gate(
          { limit: 1, window: '1m', enabled: false },
          nodeReader(() => ({ headers: {}, socket: null }), () => ''),
        ).judge({}) === undefined && content('text/html', '').data === ''`,
    },
    './testing': {
      names: ['ManualClock', 'frozenRedisStore'],
      use: `typeof frozenRedisStore(${CLIENT}, new ManualClock()).consume === 'function'`,
    },
  },
  '@rl/express': { '.': EXPRESS_OR_KOA },
  '@rl/koa': { '.': EXPRESS_OR_KOA },
  // Called by Fastify only: here, by something that takes two hooks.
  '@rl/fastify': {
    '.': {
      names: ['endpointOf', 'rateLimit'],
      use: `endpointOf({ routeOptions: {} }) === undefined && await (async () => {
        const hooks = [];
        const app = { addHook: (name) => void hooks.push(name) };
        await rateLimit(app, { limit: 1, window: '1m' });
        return hooks.join() === 'onRequest,onClose';
      })()`,
    },
  },
};

/** What one writes to import a door: `@rl/core/redis`. */
export function specifierOf(name: string, door: string): string {
  return name + door.slice(1);
}
