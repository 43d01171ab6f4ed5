import type { ClusterNode, SlotMove } from '@rl/testkit';
import type { Cluster } from 'ioredis';
import { Cluster as Cluster6 } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Decision } from '../../../../src/decision/decision.js';
import { createLimiter } from '../../../../src/limiter/limiter.js';
import { parsePolicy } from '../../../../src/policy/policy.js';
import { type RedisStore, redisStore } from '../../../../src/store/redis/redis-store.js';
import { CLUSTER_OPTIONS, type OpenCluster, openCluster } from '../../../support/cluster.js';
import { commandCalls } from '../../../support/redis.js';

const TEN = parsePolicy('ten', { limit: 10, window: '60s' }, '');
const TWENTY = parsePolicy('twenty', { limit: 20, window: '60s' }, '');
const SHADOW = parsePolicy('shadow', { limit: 1, window: '60s', shadow: true }, '');

let opened: OpenCluster;
beforeAll(async () => {
  opened = await openCluster();
});
afterAll(() => opened.close());

/** A tenant that nobody else asks for, with its slot, where that is and where it could be. */
async function newTenant() {
  const key = `tenant-${Math.random()}`;
  const slot = await opened.cluster.slotOf(`{${key}}`);
  const from = await opened.cluster.primaryOf(slot);
  const to = opened.cluster.nodes.find(({ id }) => id !== from.id) as ClusterNode;
  return { key, slot, from, to };
}

const admitted = (decisions: readonly Decision[]) => decisions.filter((d) => d.allowed).length;
const both = (key: string) => [TEN, TWENTY].map((policy) => ({ policy, key, cost: 1 }));

describe('policies of one tenant', () => {
  it('are in one slot, and decided in one step', async () => {
    const { key } = await newTenant();
    const stores = [opened.client, opened.connect()].map((client) => redisStore(client));
    const asked = await Promise.all(
      Array.from({ length: 60 }, (_, i) => (stores[i % 2] as RedisStore).consumeAll(both(key))),
    );
    expect(asked.filter(([ten, twenty]) => ten?.allowed && twenty?.allowed)).toHaveLength(10);
    const [store] = stores as [RedisStore];
    const left = [TEN, TWENTY].map(async (p) => (await store.consume(p, key, 0)).remaining);
    expect(await Promise.all(left)).toEqual([0, 10]);
  });

  it('and checked in one turn they are one call', async () => {
    const { key, from } = await newTenant();
    const store = redisStore(opened.client);
    const askInOneTurn = () =>
      Promise.all([TEN, TWENTY, TEN, SHADOW].map((policy) => store.consume(policy, key, 1)));
    await askInOneTurn(); // from now on the node knows the script
    const node = opened.direct(from);
    await node.call('CONFIG', 'RESETSTAT');
    await askInOneTurn();
    const { evalsha = 0, eval: evals = 0 } = await commandCalls(node);
    expect(evalsha + evals).toBe(1);
  });

  it('of several tenants are charged in turn, and put back on a denial', async () => {
    const store = redisStore(opened.client);
    const [a, b] = [await newTenant(), await newTenant()];
    const charges = [
      { policy: TWENTY, key: a.key, cost: 4 },
      { policy: TEN, key: b.key, cost: 4 },
    ];
    const asked = [];
    for (let i = 0; i < 3; i++) asked.push(await store.consumeAll(charges));
    expect(asked.map((each) => each.map(({ allowed }) => allowed))).toEqual([
      [true, true],
      [true, true],
      [true, false],
    ]);
    expect((await store.consume(TWENTY, a.key, 0)).remaining).toBe(12);
    expect((await store.consume(TEN, b.key, 0)).remaining).toBe(2);
  });
});

describe.each([
  ['5', Cluster5 as unknown as typeof Cluster6],
  ['6', Cluster6],
])('while a slot is half moved, with ioredis %s', (_, Client) => {
  let client: Cluster;
  let store: RedisStore;
  let tenant: Awaited<ReturnType<typeof newTenant>>;
  beforeEach(async () => {
    client = new Client([...opened.cluster.startupNodes], CLUSTER_OPTIONS);
    store = redisStore(client);
    tenant = await newTenant();
    return () => client.disconnect();
  });

  /** The bucket of TEN has moved, that of TWENTY has not. */
  async function halfMove(): Promise<SlotMove> {
    await store.consumeAll(both(tenant.key));
    const move = await opened.cluster.beginMove(tenant.slot, tenant.to);
    expect(await move.migrateKeys([`rl:{${tenant.key}}:ten:tb1`])).toBe(1);
    return move;
  }
  const left = async () => [
    (await store.consume(TEN, tenant.key, 0)).remaining,
    (await store.consume(TWENTY, tenant.key, 0)).remaining,
  ];

  it('calls of one key are answered: moved, not moved and new', async () => {
    const move = await halfMove();
    const policies = [TEN, TWENTY, SHADOW];
    const decisions = [];
    for (const policy of policies) decisions.push(await store.consume(policy, tenant.key, 1));
    expect(decisions.map(({ remaining }) => remaining)).toEqual([8, 18, 0]);
    await move.finish();
    expect(await left()).toEqual([8, 18]);
  });

  it('a call of several keys is answered, charged once and to all or none', async () => {
    const move = await halfMove();
    const asked = await Promise.all(
      Array.from({ length: 15 }, () => store.consumeAll(both(tenant.key))),
    );
    // In turn, hence perhaps too strict for a moment.
    const count = asked.filter(([ten]) => ten?.allowed).length;
    expect(count).toBe(9);
    expect(await left()).toEqual([0, 10]);
    await move.finish();
    expect(await left()).toEqual([0, 10]);
    expect(admitted(await store.consumeAll(both(tenant.key)))).toBe(1);
  });

  it('so are several checks, a look, a claim, refunds and resets of one turn', async () => {
    const move = await halfMove();
    const lease = parsePolicy('leased', { limit: 100, window: '60s', lease: true }, '');
    const { key } = tenant;
    const claim = { policy: lease, key, holder: 1, turn: 1, reports: [], costs: [1], extra: 5 };
    const [, , grant] = await Promise.all([
      store.consume(TEN, key, 2),
      store.consume(TWENTY, key, 3),
      store.claim(claim),
      store.refund(TWENTY, key, 1, undefined),
      store.reset(SHADOW, key),
    ]);
    expect(grant).toMatchObject({ permits: 5, decisions: [{ allowed: true }] });
    await move.finish();
    expect(await left()).toEqual([7, 17]);
  });
});

it('a client with the defaults of ioredis takes longer to find out that a slot moves, once', async () => {
  const { key, slot, to } = await newTenant();
  const client = new Cluster6([...opened.cluster.startupNodes]);
  const store = redisStore(client);
  await store.consumeAll(both(key));
  const move = await opened.cluster.beginMove(slot, to);
  await move.migrateKeys([`rl:{${key}}:ten:tb1`]);
  for (const left of [8, 7]) {
    expect((await store.consumeAll(both(key))).map(({ remaining }) => remaining)).toEqual([
      left,
      left + 10,
    ]);
  }
  await move.finish();
  client.disconnect();
});

it('a call of several keys is decided by its deadline while its slot moves, and charged once', async () => {
  const tenant = await newTenant();
  const limiter = createLimiter({
    policies: { ten: { limit: 10, window: '60s' }, twenty: { limit: 20, window: '60s' } },
    store: redisStore(opened.client),
    fallback: { replicas: 1, deadline: '5ms' },
  });
  const keys = { ten: tenant.key, twenty: tenant.key };
  await limiter.consume(keys);
  const move = await opened.cluster.beginMove(tenant.slot, tenant.to);
  await move.migrateKeys([`rl:{${tenant.key}}:ten:tb1`]);
  const decisions = [];
  for (let i = 0; i < 4; i++) decisions.push(await limiter.consume(keys));
  expect(admitted(decisions)).toBe(4);
  await move.finish();
  // What the fallback admitted is charged, once; what came late is not charged twice.
  const store = redisStore(opened.client);
  const left = async () => [
    (await store.consume(TEN, tenant.key, 0)).remaining,
    (await store.consume(TWENTY, tenant.key, 0)).remaining,
  ];
  await expect.poll(left, { timeout: 5000 }).toEqual([5, 15]);
  await limiter.close();
  expect(await left()).toEqual([5, 15]);
});

/** Asks again and again, in turns of five, until told to stop. */
function load(store: RedisStore, keys: readonly string[]) {
  const decisions = new Map<string, Decision[]>(keys.map((key) => [key, []]));
  const failures: unknown[] = [];
  let stopped = false;
  const asking = (async () => {
    while (!stopped) {
      await Promise.all(
        keys.map(async (key) => {
          try {
            decisions.get(key)?.push(await store.consume(TEN, key, 1));
          } catch (error) {
            failures.push(error);
          }
        }),
      );
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  })();
  return {
    /** What was admitted of each key by now and by ten more calls, and what failed. */
    async stop() {
      const made = () => Math.min(...[...decisions.values()].map(({ length }) => length));
      const enough = made() + 10;
      while (made() < enough && failures.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      stopped = true;
      await asking;
      return { admitted: [...decisions.values()].map(admitted), failures };
    },
  };
}

it.each([
  ['', {}],
  [', with auto-pipelining', { enableAutoPipelining: true }],
])(
  'S-03 a slot is moved under checks%s: exactly 10 of 10, no error, nothing replayed',
  async (_, options) => {
    const { key, slot, from, to } = await newTenant();
    const store = redisStore(opened.connect(options));
    const calls = load(store, [key]);
    for (const target of [to, from, to]) {
      const move = await opened.cluster.beginMove(slot, target);
      await store.consume(TEN, key, 0);
      await move.migrateKeys(1);
      await store.consume(TEN, key, 0);
      await move.finish();
    }
    const {
      admitted: [count],
      failures,
    } = await calls.stop();
    expect(failures).toEqual([]);
    expect(count).toBe(10);
  },
);

it('a primary is added and given slots under checks: exactly 10 of each key, no error', async () => {
  const tenants = await Promise.all(Array.from({ length: 20 }, newTenant));
  const store = redisStore(opened.connect());
  const calls = load(
    store,
    tenants.map(({ key }) => key),
  );
  const added = await opened.cluster.addPrimary();
  for (const { slot } of tenants) await opened.cluster.moveSlot(slot, added);
  const { admitted: counts, failures } = await calls.stop();
  expect(failures).toEqual([]);
  expect(counts).toEqual(tenants.map(() => 10));
  const after = await Promise.all(tenants.map(({ key }) => store.consume(TEN, key, 1)));
  expect(admitted(after)).toBe(0);
});
