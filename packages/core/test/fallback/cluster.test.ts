import { type ClusterNode, type RedisCluster, startCluster } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import type { StoreEvent } from '../../src/fallback/events.js';
import { replicasKey } from '../../src/store/redis/heartbeat.js';
import { slotOf } from '../../src/store/redis/slot.js';
import {
  askUntil,
  type ClusterReplica,
  type ClusterReplicaOptions,
  keysByPlace,
  startClusterReplica,
} from '../support/cluster-replica.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Nodes serve their slots whatever becomes of the others. */
const PARTIAL = ['--cluster-require-full-coverage', 'no'];
const POLICIES = { p: { limit: 100, window: '1h' } } as const;
/** Of a machine that is busy with other tests a sound node answers by then. */
const DEADLINE = '250ms';

async function start(options: Parameters<typeof startCluster>[0]): Promise<RedisCluster> {
  const cluster = await startCluster({ args: PARTIAL, ...options });
  open.push(cluster);
  return cluster;
}

async function replicaOf(
  cluster: RedisCluster,
  options: Omit<ClusterReplicaOptions, 'policies'>,
): Promise<ClusterReplica> {
  const fallback = { deadline: DEADLINE, ...options.fallback };
  const replica = await startClusterReplica(cluster, { policies: POLICIES, ...options, fallback });
  open.push(replica);
  return replica;
}

const addressOf = ({ server }: ClusterNode): string => {
  const { host, port } = server.connection as { host: string; port: number };
  return `${host}:${port}`;
};

/** Where the events of a kind happened. */
const places = (events: readonly StoreEvent[], type: StoreEvent['type']) =>
  events.filter((event) => event.type === type).map((event) => 'place' in event && event.place);

const admitted = (decisions: readonly Decision[]) =>
  decisions.filter(({ allowed }) => allowed).length;

/** Asks for `keys` in turn until `ended`. @returns what decided */
async function goOn({ limiter }: ClusterReplica, keys: readonly string[], ended: Promise<unknown>) {
  const origins = new Set<string>();
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const key of keys) {
      const { origin } = await limiter.consume({ p: key }, { cost: 0 });
      origins.add(origin);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return [...origins];
}

describe('a primary that falls silent', () => {
  it('is lost alone, decided for at once, and charged when it answers again', async () => {
    const cluster = await start({ nodeTimeoutMs: 60_000 });
    const prefix = 'fleet';
    const fleet = [
      await replicaOf(cluster, { prefix, replicaId: 'a' }),
      await replicaOf(cluster, { prefix, replicaId: 'b' }),
    ];
    const [{ placeOf }] = fleet as [ClusterReplica];
    // The one that counts the replicas, too.
    const sickNode = await cluster.primaryOf(slotOf(replicasKey(prefix)));
    const sick = addressOf(sickNode);
    const keys = keysByPlace(placeOf, 3);
    const key = keys.get(sick) as string;
    const others = [...keys.values()].filter((other) => other !== key);
    let sum = 0;
    for (const { limiter } of fleet) {
      expect(await limiter.consume({ p: key })).toMatchObject({ origin: 'store' });
      sum++;
    }
    await expect
      .poll(() => fleet.map((one) => one.limiter.health().replicas), { timeout: 10_000 })
      .toEqual([2, 2]);

    await sickNode.server.pause();
    const outages = fleet.map(async (one) => {
      const { limiter } = one;
      const outage = async () => {
        const slow = await askUntil(limiter, key, () => limiter.health().store === 'lost');
        const fast = [];
        for (let allowed = true; allowed; ) {
          const decision = limiter.tryConsume({ p: key }) as Decision;
          fast.push(decision);
          ({ allowed } = decision);
        }
        sum += admitted([...slow, ...fast]);
        return [...slow, ...fast];
      };
      const ended = outage();
      const [origins, decisions] = await Promise.all([goOn(one, others, ended), ended]);
      return { origins, decisions };
    });
    for (const { origins, decisions } of await Promise.all(outages)) {
      expect(origins).toEqual(['store']);
      for (const { fallback } of decisions) {
        expect(fallback).toEqual({ mode: 'local', fault: 'timeout' });
      }
    }
    expect(sum).toBe(100);
    for (const { limiter, events } of fleet) {
      const sound = Object.fromEntries(others.map((other) => [placeOf(other), 'up']));
      const health = { store: 'lost', replicas: 2, places: { ...sound, [sick]: 'lost' } };
      expect(limiter.health()).toMatchObject(health);
      for (const other of others) expect(limiter.tryConsume({ p: other })).toBeUndefined();
      expect(new Set(places(events, 'store-failed'))).toEqual(new Set([sick]));
      expect(places(events, 'store-lost')).toEqual([sick]);
    }

    await sickNode.server.resume();
    await expect
      .poll(() => fleet.map(({ limiter }) => limiter.health()), { timeout: 10_000 })
      .toMatchObject(Array(2).fill({ store: 'up', owed: 0 }));
    for (const { limiter, events } of fleet) {
      expect(await limiter.consume({ p: key })).toMatchObject({ allowed: false, origin: 'store' });
      for (const type of ['store-found', 'reconciled', 'store-back'] as const) {
        expect(places(events, type)).toEqual([sick]);
      }
    }
  });
});

describe('a primary that is killed', () => {
  it('is lost alone, and the one promoted in its stead is charged and decides', async () => {
    const cluster = await start({ replicasEach: 1, nodeTimeoutMs: 1000 });
    const replica = await replicaOf(cluster, { fallback: { deadline: DEADLINE, replicas: 1 } });
    const { limiter, placeOf, events } = replica;
    const keys = keysByPlace(placeOf, 3);
    const [[old, key], ...rest] = [...keys] as [[string, string], ...[string, string][]];
    const others = rest.map(([, other]) => other);
    const node = await cluster.primaryOf(slotOf(key));
    expect(addressOf(node)).toBe(old);
    await limiter.consume({ p: key }, { cost: 10 });
    // What a failover can lose is not the matter here.
    const direct = new Redis(node.server.connection);
    await direct.wait(1, 5000);
    direct.disconnect();

    await cluster.killPrimary(node);
    const promotion = cluster.untilPromoted(node);
    const asking = askUntil(limiter, key, ({ allowed }) => !allowed);
    const [origins, decisions] = await Promise.all([goOn(replica, others, promotion), asking]);
    expect(origins).toEqual(['store']);
    const promoted = addressOf(await promotion);
    expect(admitted(decisions)).toBe(90);
    expect(places(events, 'store-lost')).toEqual([old]);

    await expect
      .poll(() => limiter.health(), { timeout: 10_000 })
      .toMatchObject({ store: 'up', owed: 0 });
    expect(placeOf(key)).toBe(promoted);
    expect(limiter.health().places).toHaveProperty([promoted], 'up');
    expect(limiter.health().places).not.toHaveProperty([old]);
    const anew = { place: promoted, insteadOf: old };
    expect(events).toContainEqual({ type: 'store-found', ...anew });
    expect(events).toContainEqual(expect.objectContaining({ type: 'store-back', ...anew }));
    expect(await limiter.consume({ p: key })).toMatchObject({ allowed: false, origin: 'store' });
  });
});
