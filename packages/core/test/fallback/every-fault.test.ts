import { once } from 'node:events';
import { type RedisServer, startRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StoreFault } from '../../src/errors.js';
import { LONG, type Replica, startReplica, untilStore } from '../support/replica.js';

let server: RedisServer;
let admin: Redis;
let replica: Replica | undefined;
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => unhandled.push(reason);

beforeAll(async () => {
  process.on('unhandledRejection', onUnhandled);
  server = await startRedis();
  admin = new Redis({ ...server.connection, retryStrategy: () => 20 });
  admin.on('error', () => {});
});
beforeEach(async () => {
  await admin.flushall();
  await addUser();
});
afterEach(async () => {
  await replica?.close();
  replica = undefined;
  expect(unhandled).toEqual([]);
});
afterAll(async () => {
  process.off('unhandledRejection', onUnhandled);
  admin.disconnect();
  await server.close();
});

/** While connections are cut, each before its next answer; the last cut is one behind. */
let isCutting = false;

const POLICIES = {
  p: { limit: 1000, window: '1h', fallback: 'open' },
  closed: { limit: 1000, window: '1h', fallback: 'closed' },
  leased: { limit: 1000, window: '1h', fallback: 'open', lease: true },
  log: { limit: 1000, window: '1h', fallback: 'open', algorithm: 'sliding-log' },
} as const;

interface Case {
  readonly name: string;
  readonly fault: StoreFault;
  /** 1 s, so that what is slow may be late; longer than the test where no fault may wait for it. */
  readonly deadline: string;
  begin(replica: Replica): Promise<unknown>;
  end(replica: Replica): Promise<unknown>;
}

/** A user who may do all. */
const addUser = () => admin.acl('SETUSER', 'app', 'reset', 'on', '>secret', '~*', '+@all');

const AT_ONCE = '1m';
const TIMES_OUT = '100ms';
const acl = (...rules: string[]) => admin.acl('SETUSER', 'app', ...rules);
const set = (name: string, value: string) => admin.config('SET', name, value);

const CASES: readonly Case[] = [
  {
    name: 'refused: nobody listens',
    fault: 'connection',
    deadline: AT_ONCE,
    begin: async ({ client, cable }) => {
      const closed = once(client, 'close');
      await cable.refuse();
      await closed;
    },
    end: ({ cable }) => cable.accept(),
  },
  {
    name: 'reset: each connection is cut before it answers',
    fault: 'connection',
    deadline: AT_ONCE,
    begin: async ({ cable }) => {
      isCutting = true;
      const cut = (): unknown =>
        isCutting && cable.cutBeforeReply((sent) => sent.includes('eval')).then(cut, () => {});
      cut();
    },
    end: async () => {
      isCutting = false;
    },
  },
  {
    name: 'killed, and started again empty',
    fault: 'connection',
    deadline: AT_ONCE,
    begin: async ({ client }) => {
      const closed = once(client, 'close');
      await server.kill();
      await closed;
    },
    end: async () => {
      await server.restart();
      await addUser();
    },
  },
  {
    name: 'silent: it accepts and never answers',
    fault: 'timeout',
    deadline: TIMES_OUT,
    begin: async ({ cable }) => cable.blackhole(),
    end: async ({ cable }) => cable.heal(),
  },
  {
    name: 'frozen: SIGSTOP',
    fault: 'timeout',
    deadline: TIMES_OUT,
    begin: () => server.pause(),
    end: () => server.resume(),
  },
  {
    name: 'slow: each answer comes after the deadline',
    fault: 'timeout',
    deadline: TIMES_OUT,
    begin: async ({ cable }) => cable.delay({ toClientMs: 1000 }),
    end: async ({ cable }) => cable.delay({}),
  },
  {
    name: 'O-09 BUSY: a script runs on and on',
    fault: 'unavailable',
    deadline: AT_ONCE,
    begin: async () => {
      await set('lua-time-limit', '10');
      const other = admin.duplicate();
      other.eval('while true do end', 0).catch(() => other.disconnect());
      await expect.poll(() => admin.get('k').catch(String)).toMatch(/BUSY/);
    },
    end: () => admin.script('KILL'),
  },
  {
    name: 'O-09 OOM: no memory left',
    fault: 'memory',
    deadline: AT_ONCE,
    begin: () => set('maxmemory', '1'),
    end: () => set('maxmemory', '0'),
  },
  {
    name: 'S-09 READONLY: a primary that was demoted',
    fault: 'read-only',
    deadline: AT_ONCE,
    begin: () => admin.replicaof('127.0.0.1', 1),
    end: () => admin.replicaof('NO', 'ONE'),
  },
  {
    name: 'S-07 NOPERM: no script may run',
    fault: 'permission',
    deadline: AT_ONCE,
    begin: () => acl('-eval', '-evalsha'),
    end: () => acl('+eval', '+evalsha'),
  },
  {
    name: 'S-07 NOPERM: a script may not write',
    fault: 'permission',
    deadline: AT_ONCE,
    begin: () => acl('-set', '-psetex', '-append', '-setrange'),
    end: () => acl('+@all'),
  },
  {
    name: 'a client that has ended',
    fault: 'connection',
    deadline: AT_ONCE,
    begin: async ({ client }) => {
      const ended = once(client, 'end');
      client.disconnect();
      await ended;
    },
    end: ({ client }) => client.connect(),
  },
];

async function start(deadline: string, client = {}): Promise<Replica> {
  replica = await startReplica(server, {
    policies: POLICIES,
    client: { username: 'app', password: 'secret', ...client },
    fallback: { deadline },
  });
  return replica;
}

/** Which of `callAll` are allowed without the store, and which is leased. */
const ALLOWED = [true, false, true, true, true, false, true];
const LEASED = 2;

/** A call of each kind, together. */
function callAll({ limiter }: Replica) {
  return Promise.all([
    limiter.consume({ p: 'k' }),
    limiter.consume({ closed: 'k' }),
    limiter.consume({ leased: 'k' }),
    limiter.consume({ log: 'k' }),
    limiter.consume({ p: 'k', log: 'k' }),
    limiter.consume({ p: 'k', closed: 'other' }),
    limiter.settle({ p: 'k' }, { estimate: 1, cost: 2 }),
  ]);
}

describe('whatever the trouble, each call has its decision, and the store decides again behind it', () => {
  it.each(CASES)('$name', async ({ fault, deadline, begin, end }) => {
    const own = await start(deadline);
    await untilStore(own.limiter, 'k');
    await begin(own);
    try {
      const decided = [];
      for (let i = 0; i < 8; i++) decided.push(await callAll(own));
      for (const decisions of decided) {
        expect(decisions.map(({ allowed }) => allowed)).toEqual(ALLOWED);
        decisions.forEach(({ origin }, i) => {
          // A grant that comes late becomes a lease.
          expect(i === LEASED ? ['fallback', 'lease'] : ['fallback']).toContain(origin);
        });
      }
      const [first] = own.events.filter(({ type }) => type === 'store-failed');
      expect(first).toMatchObject({ fault });
      expect(own.limiter.health().store).toBe('lost');
      expect(own.events.filter(({ type }) => type === 'store-lost')).toHaveLength(1);
    } finally {
      await end(own);
    }
    await untilStore(own.limiter, 'k');
    expect((await own.limiter.consume({ closed: 'k' })).origin).toBe('store');
    expect(own.limiter.health()).toMatchObject({ store: 'up', owed: 0 });
  });
});

describe('what is no trouble', () => {
  it('lost scripts are sent again', async () => {
    const own = await start(LONG);
    for (let i = 0; i < 5; i++) {
      for (const { origin } of await callAll(own)) expect(['store', 'lease']).toContain(origin);
      await admin.script('FLUSH');
    }
    expect(own.events).toEqual([{ type: 'replicas', replicas: 1 }]);
  });

  it('scripts by digest may be forbidden', async () => {
    await acl('-evalsha');
    const own = await start(LONG);
    for (let i = 0; i < 3; i++) {
      for (const { origin } of await callAll(own)) expect(['store', 'lease']).toContain(origin);
    }
  });

  it('WRONGTYPE: others have written to the key of a bucket', async () => {
    const own = await start(LONG);
    await own.limiter.consume({ p: 'k' });
    for (const key of await admin.keys('rl:{k}:*')) {
      await admin.del(key);
      await admin.rpush(key, 'x');
    }
    for (const { origin } of await callAll(own)) expect(['store', 'lease']).toContain(origin);
  });

  it('a client without an offline queue, before its connection is there', async () => {
    const own = await start('1m', { enableOfflineQueue: false });
    const first = await own.limiter.consume({ p: 'k' });
    expect(first).toMatchObject({ allowed: true, fallback: { fault: 'connection' } });
    await untilStore(own.limiter, 'k');
  });
});
