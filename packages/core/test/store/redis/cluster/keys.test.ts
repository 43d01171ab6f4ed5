import type { Cluster } from 'ioredis';
import { Cluster as Cluster6 } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoreEvent } from '../../../../src/fallback/events.js';
import { createLimiter } from '../../../../src/limiter/limiter.js';
import { ALGORITHMS, parsePolicy } from '../../../../src/policy/policy.js';
import type { RedisClient } from '../../../../src/store/redis/client.js';
import { aclRules } from '../../../../src/store/redis/permissions.js';
import { redisStore } from '../../../../src/store/redis/redis-store.js';
import { failuresOf } from '../../../support/ask-everything.js';
import {
  CLUSTER_OPTIONS,
  clusterKeys,
  type OpenCluster,
  openCluster,
} from '../../../support/cluster.js';
import { PATIENT } from '../../../support/patient.js';

let opened: OpenCluster;
beforeAll(async () => {
  opened = await openCluster();
});
afterAll(() => opened.close());

/** The same command to every primary. */
async function everywhere(...command: [string, ...string[]]): Promise<unknown[]> {
  const clients = opened.cluster.nodes.map((node) => opened.direct(node));
  const replies = await Promise.all(clients.map((client) => client.call(...command)));
  for (const client of clients) client.disconnect();
  return replies;
}

/** A client whose user has these rules and no other. */
async function userWith(rules: string): Promise<Cluster> {
  await everywhere('ACL', 'SETUSER', 'app', 'reset', 'on', '>secret', ...rules.split(' '));
  const login = { username: 'app', password: 'secret', enableReadyCheck: false };
  return opened.connect({ redisOptions: login });
}

/** What a Cluster's client of ioredis itself asks. */
const OF_CLIENT = '+cluster|slots +cluster|info';

describe.each([
  ['5', Cluster5 as unknown as typeof Cluster6],
  ['6', Cluster6],
])('with ioredis %s', (version, Client) => {
  it.each([
    ['S-03 100 checks at once on random keys', {}],
    ['S-03 the same with auto-pipelining', { enableAutoPipelining: true }],
  ])('%s: 100 answers', async (_, options) => {
    const client = new Client([...opened.cluster.startupNodes], { ...CLUSTER_OPTIONS, ...options });
    const store = redisStore(client, {
      prefix: `s03-${version}-${'enableAutoPipelining' in options}`,
    });
    const policy = parsePolicy('many', { limit: 10, window: '60s' }, '');
    const keys = Array.from({ length: 100 }, () => `user-${Math.random()}`);
    const decisions = await Promise.all(keys.map((key) => store.consume(policy, key, 1)));
    expect(decisions.map(({ remaining }) => remaining)).toEqual(keys.map(() => 9));
    client.disconnect();
  });
});

describe('keys', () => {
  const TEXTS = ['u1', 'a{b}c', 'x{b}y', '{', '}{', '{}', '{}x'];
  it.each(ALGORITHMS)(
    'S-04 braces in keys neither break nor steer the slot: %s',
    async (algorithm) => {
      const store = redisStore(opened.client, { prefix: `s04-${algorithm}` });
      const policies = ['minute', 'hour'].map((name) =>
        parsePolicy(name, { algorithm, limit: 1, window: '1h' }, ''),
      );
      const ask = () =>
        Promise.all(
          TEXTS.map((key) =>
            store.consumeAll(policies.map((policy) => ({ policy, key, cost: 1 }))),
          ),
        );
      expect((await ask()).flat().map(({ allowed }) => allowed)).toEqual(Array(14).fill(true));
      expect((await ask()).flat().map(({ allowed }) => allowed)).toEqual(Array(14).fill(false));
      const keys = await clusterKeys(opened, `s04-${algorithm}:`);
      expect(keys).toHaveLength(14);
      const slots = await Promise.all(keys.map((key) => opened.cluster.slotOf(key)));
      expect(new Set(slots).size).toBe(TEXTS.length);
    },
  );

  it('K-07 each distinct text has its own bucket under a short key', async () => {
    const store = redisStore(opened.client, { prefix: 'k07' });
    const policy = parsePolicy('odd', { limit: 1, window: '1h' }, '');
    const long = 'x'.repeat(299);
    const texts = [
      ...['x'.repeat(2 ** 20), `${long}a`, `${long}b`, 'a b', 'a\r\nb', 'a\u0000b'],
      ...['\u00e9', 'e\u0301', '😀'],
    ];
    const ask = () => Promise.all(texts.map((text) => store.consume(policy, text, 1)));
    expect((await ask()).map(({ allowed }) => allowed)).toEqual(texts.map(() => true));
    expect((await ask()).map(({ allowed }) => allowed)).toEqual(texts.map(() => false));
    const keys = await clusterKeys(opened, 'k07:');
    expect(keys).toHaveLength(texts.length);
    for (const key of keys) expect(key).toMatch(/^[!-~]{1,339}$/);
    const limiter = createLimiter({
      policies: { odd: { limit: 1, window: '1h' } },
      store,
      fallback: PATIENT,
    });
    await expect(limiter.consume({ odd: '' })).rejects.toMatchObject({ code: 'RL_INVALID_VALUE' });
    await limiter.close();
  });
});

describe('scripts', () => {
  it('S-05 touch no key but those they declare, whatever is asked', async () => {
    const user = await userWith(`${aclRules('none')} ${OF_CLIENT}`);
    const asked: string[] = [];
    // Before each call its user is given the keys that the call declares, and no other.
    const allowing =
      (call: RedisClient['evalsha']): RedisClient['evalsha'] =>
      async (script, count, ...rest) => {
        const keys = rest.slice(0, count).map(String);
        asked.push(...keys);
        await everywhere('ACL', 'SETUSER', 'app', 'resetkeys', ...keys.map((key) => `~${key}`));
        return call(script, count, ...rest);
      };
    const client: RedisClient = {
      isCluster: true,
      evalsha: allowing((...args) => user.evalsha(...args)),
      eval: allowing((...args) => user.eval(...args)),
    };
    await everywhere('ACL', 'LOG', 'RESET');
    expect(await failuresOf(client, 's05')).toEqual([]);
    const denied = ((await everywhere('ACL', 'LOG')) as string[][][]).flat();
    expect(denied.filter((entry) => entry.includes('key'))).toEqual([]);
    expect(new Set(asked)).toContain('rl:replicas');
    expect(new Set(asked).size).toBe(ALGORITHMS.length + 4);
    // One that does touch another key is found out.
    const touchesMore = client.eval(
      "return redis.call('GET', 'rl:{a}:more')",
      1,
      'rl:{a}:declared',
    );
    await expect(touchesMore).rejects.toThrow(/can't access at least one of the keys|NOPERM/);
  });

  it('S-08 the permissions of docs/stores.md are enough', async () => {
    expect(await failuresOf(await userWith(`${aclRules('rl')} ${OF_CLIENT}`), 's08')).toEqual([]);
  });

  it.each(['time', 'set'])(
    'S-08 -%s: the first use says what is missing, then the fallback decides',
    async (command) => {
      const store = redisStore(await userWith(`${aclRules('rl')} ${OF_CLIENT} -${command}`));
      const events: StoreEvent[] = [];
      const limiter = createLimiter({
        policies: { quota: { limit: 2, window: '1h' }, other: { limit: 2, window: '1h' } },
        store,
        fallback: { ...PATIENT, onEvent: (event) => void events.push(event) },
      });
      const ask = () => limiter.consume({ quota: `s08-${command}`, other: `s08-${command}` });
      const decisions = [await ask(), await ask(), await ask()];
      for (const decision of decisions) {
        expect(decision).toMatchObject({
          origin: 'fallback',
          fallback: { mode: 'local', fault: 'permission' },
        });
      }
      expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false]);
      expect(events.find(({ type }) => type === 'store-failed')).toMatchObject({
        type: 'store-failed',
        fault: 'permission',
        error: { message: expect.stringContaining(`+${command}`) },
      });
      await limiter.close();
    },
  );
});
