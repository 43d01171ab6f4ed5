import { mkdir, rmdir } from 'node:fs/promises';
import { type ClusterNode, type RedisServer, startCluster, startRedis } from '@rl/testkit';
import { Cluster, Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isRateLimitError, type StoreFault } from '../../../src/errors.js';
import { parsePolicy } from '../../../src/policy/policy.js';
import { type RedisStore, redisStore } from '../../../src/store/redis/redis-store.js';
import { type ErringServer, startErringServer } from '../../support/erring-server.js';
import { closedPort } from '../../support/ports.js';
import { useOwn } from '../../support/redis.js';

const POLICY = parsePolicy('faults', { limit: 100, window: '1h' }, '');
const LOG = parsePolicy('log', { algorithm: 'sliding-log', limit: 100, window: '1h' }, '');

/** Asks each way there is to ask, and gives what every promise rejected with. */
async function askAll(store: RedisStore): Promise<unknown[]> {
  const asked = [
    store.consume(POLICY, 'k', 1),
    store.consume(POLICY, 'k', 1),
    store.consume(LOG, 'k', 1),
    store.consumeAll([
      { policy: POLICY, key: 'a', cost: 1 },
      { policy: LOG, key: 'a', cost: 1 },
    ]),
    store.overcharge(POLICY, 'k', 1),
  ];
  const results = await Promise.allSettled(asked);
  return results.map((result) => (result.status === 'rejected' ? result.reason : result.value));
}

function expectFailures(failures: readonly unknown[], fault: StoreFault, says: RegExp): void {
  for (const failure of failures) {
    if (!isRateLimitError(failure)) throw new Error(`not one of our errors: ${String(failure)}`);
    expect(failure).toMatchObject({ code: 'RL_STORE_FAILED', fault, retryable: true });
    expect(failure.message).toMatch(says);
  }
}

/** A state of a server in which it does not serve, and the way out of it. */
interface Trouble {
  readonly name: string;
  readonly fault: StoreFault;
  readonly says: RegExp;
  /** @returns ends it */
  begin(admin: Redis, client: Redis): Promise<() => Promise<unknown>>;
}

const setting = (name: string, value: string, before: string): Trouble['begin'] => {
  return async (admin) => {
    await admin.config('SET', name, value);
    return () => admin.config('SET', name, before);
  };
};

/** Has `client` wait in vain for `trouble` no longer than a test does. */
const until = (client: Redis, trouble: RegExp) =>
  expect.poll(() => client.get('k').catch(String), { timeout: 10_000 }).toMatch(trouble);

const TROUBLES: readonly Trouble[] = [
  {
    name: 'OOM: no memory left for writes',
    fault: 'memory',
    says: /OOM command not allowed/,
    begin: setting('maxmemory', '1', '0'),
  },
  {
    name: 'NOREPLICAS: too few Redis replicas',
    fault: 'read-only',
    says: /NOREPLICAS/,
    begin: setting('min-replicas-to-write', '1', '0'),
  },
  {
    name: 'MISCONF: it cannot persist',
    fault: 'read-only',
    says: /MISCONF/,
    async begin(admin) {
      const dump = `${((await admin.config('GET', 'dir')) as string[])[1]}/dump.rdb`;
      const save = (status: string) => async () => {
        await admin.bgsave().catch(() => {}); // one may be under way
        expect(await admin.info('persistence')).toContain(`rdb_last_bgsave_status:${status}`);
      };
      await mkdir(dump); // so that the file cannot take its place
      await admin.config('SET', 'save', '3600 1');
      await expect.poll(save('err')).toBeUndefined();
      return async () => {
        await rmdir(dump);
        await expect.poll(save('ok')).toBeUndefined();
        await admin.config('SET', 'save', '');
      };
    },
  },
  {
    name: 'BUSY: a script runs on and on',
    fault: 'unavailable',
    says: /BUSY Redis is busy/,
    async begin(admin) {
      await admin.config('SET', 'lua-time-limit', '10');
      const other = admin.duplicate();
      const ended = other.eval('while true do end', 0).catch(() => other.disconnect());
      await until(admin, /BUSY/);
      return async () => {
        await admin.script('KILL');
        await ended;
      };
    },
  },
  {
    name: 'NOAUTH: the connection is not logged in',
    fault: 'permission',
    says: /NOAUTH Authentication required/,
    async begin(admin, client) {
      await admin.config('SET', 'requirepass', 'secret');
      await client.call('RESET');
      return async () => {
        await client.auth('secret');
        await admin.config('SET', 'requirepass', '');
      };
    },
  },
];

describe('O-09 a server that does not serve, and then does again', () => {
  const own = useOwn();
  it.each(TROUBLES)('O-09 $name', async ({ fault, says, begin }) => {
    const admin = own.client.duplicate();
    expect(await own.store.consume(POLICY, 'k', 1)).toMatchObject({ remaining: 99 });
    const end = await begin(admin, own.client);
    expectFailures(await askAll(own.store), fault, says);
    await end();
    expect(await own.store.consume(POLICY, 'k', 1)).toMatchObject({
      allowed: true,
      remaining: 98,
      origin: 'store',
    });
    admin.disconnect();
  });
});

describe('O-09 a server that becomes a Redis replica', () => {
  let primary: RedisServer;
  let server: RedisServer;
  let client: Redis;
  let admin: Redis;
  let store: RedisStore;
  let lost: number;
  beforeAll(async () => {
    primary = await startRedis();
    server = await startRedis();
    client = new Redis({ ...server.connection, retryStrategy: () => 10 });
    client.on('close', () => lost++);
    admin = new Redis(server.connection);
  });
  beforeEach(() => {
    lost = 0;
    store = redisStore(client);
  });
  afterEach(() => store.close());
  afterAll(async () => {
    for (const each of [client, admin]) each.disconnect();
    for (const each of [server, primary]) await each.close();
  });

  /** What is asked from now on is answered by the same store and client. */
  const answered = () =>
    expect.poll(() => store.consume(POLICY, 'after', 1).catch(String), { timeout: 10_000 });

  it('O-09 LOADING: it takes over what its new primary has', async () => {
    const source = new Redis(primary.connection);
    await source.config('SET', 'repl-diskless-sync-delay', '0');
    await source.mset(
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 'v'.repeat(99)])),
    );
    await admin.config('SET', 'loading-process-events-interval-bytes', '1024');
    await admin.config('SET', 'key-load-delay', '20000');
    await store.consume(POLICY, 'k', 1);
    await admin.replicaof('127.0.0.1', primary.connection.port as number);
    await until(admin, /LOADING/);
    expectFailures(await askAll(store), 'unavailable', /LOADING/);
    await admin.config('SET', 'key-load-delay', '0');
    await expect.poll(() => admin.replicaof('NO', 'ONE').catch(String)).toBe('OK');
    await answered().toMatchObject({ allowed: true, origin: 'store' });
    expect(lost).toBe(0);
    await source.quit();
  });

  it.each([
    ['S-09 READONLY: a primary that was demoted', 'read-only', /READONLY/, 'yes'],
    ['O-09 MASTERDOWN: with a primary it has lost', 'unavailable', /MASTERDOWN/, 'no'],
  ] as const)('%s', async (_, fault, says, stale) => {
    await store.consume(POLICY, 'k', 1);
    await admin.config('SET', 'replica-serve-stale-data', stale);
    await admin.replicaof('127.0.0.1', await closedPort());
    expectFailures(await askAll(store), fault, says);
    // The client looks again where the name of its server leads to.
    await expect.poll(() => lost).toBe(1);
    await expect.poll(() => client.status).toBe('ready');
    const later = await store.consume(POLICY, 'k', 1).catch((error: unknown) => error);
    expectFailures([later], fault, says);
    await admin.replicaof('NO', 'ONE');
    await answered().toMatchObject({ allowed: true, origin: 'store' });
    expect(lost).toBe(1);
  });
});

describe('what only other states of a cluster answer', () => {
  const own = useOwn();
  let erring: ErringServer;
  beforeAll(async () => {
    erring = await startErringServer(own.server.connection);
  });
  afterAll(() => erring.close());

  it.each([
    ['LOADING', 'LOADING Redis is loading the dataset in memory', 'unavailable'],
    ['CLUSTERDOWN', 'CLUSTERDOWN The cluster is down', 'unavailable'],
    ['TRYAGAIN', 'TRYAGAIN Multiple keys request during rehashing of slot', 'unavailable'],
    ['MASTERDOWN', 'MASTERDOWN Link with MASTER is down', 'unavailable'],
    [
      'OOM in an old script',
      'ERR Error running script (call to f_12): @user_script:3: @user_script: 3: -OOM command not allowed',
      'memory',
    ],
  ] as const)('O-09 %s, then the next check is answered', async (_, trouble, fault) => {
    const client = new Redis({ port: erring.port, retryStrategy: () => 10 });
    const store = redisStore(client);
    await store.consume(POLICY, 'k', 1);
    erring.trouble = trouble;
    const failures = await askAll(store);
    erring.trouble = undefined;
    expectFailures(failures, fault, new RegExp(trouble.slice(0, 30).replace('(', '\\(')));
    await expect
      .poll(() => store.consume(POLICY, 'k', 1).catch(String))
      .toMatchObject({ allowed: true, remaining: 98 });
    client.disconnect();
  });
});

it('O-09 a Cluster that is down, asked by its own client, and is up again', async () => {
  const cluster = await startCluster({ primaries: 1 });
  const [node] = cluster.nodes as [ClusterNode];
  const erring = await startErringServer(node.server.connection);
  const { host = '127.0.0.1', port } = node.server.connection;
  const client = new Cluster([{ host, port: erring.port }], {
    natMap: { [`${host}:${port}`]: { host, port: erring.port } },
    maxRedirections: 2,
    retryDelayOnClusterDown: 10,
    retryDelayOnTryAgain: 10,
  });
  const store = redisStore(client);
  await store.consume(POLICY, 'k', 1);
  for (const trouble of ['CLUSTERDOWN The cluster is down', 'TRYAGAIN Multiple keys request']) {
    erring.trouble = trouble;
    expectFailures(await askAll(store), 'unavailable', /CLUSTERDOWN|TRYAGAIN/);
  }
  erring.trouble = undefined;
  expect(await store.consume(POLICY, 'k', 1)).toMatchObject({ allowed: true, remaining: 98 });
  client.disconnect();
  await expect.poll(() => client.status).toBe('end');
  expectFailures(await askAll(store), 'connection', /the client has ended/);
  await erring.close();
  await cluster.close();
});
