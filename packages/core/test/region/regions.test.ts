import { type FaultProxy, type RedisServer, startFaultProxy, startRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { StoreEvent } from '../../src/fallback/events.js';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import type { LeaseOptions } from '../../src/policy/lease-terms.js';
import type { PolicyOptions } from '../../src/policy/policy.js';
import { type RegionalStore, regionalStore } from '../../src/region/regional-store.js';
import { type RedisStore, redisStore } from '../../src/store/redis/redis-store.js';
import { CLIENT } from '../support/replica.js';

/** One way between a region and the home store. */
const ONE_WAY_MS = 40;

interface Replica {
  readonly region: number;
  readonly limiter: Limiter;
  readonly store: RegionalStore;
  readonly events: StoreEvent[];
  /** Questions to the home store that a call may have waited for. */
  asked: number;
  readonly client: Redis;
  close(): Promise<void>;
}

let servers: RedisServer[];
let cables: FaultProxy[];
/** Between a region's replicas and its Redis. */
let near: FaultProxy[];
let homeClient: Redis;
let homeStore: RedisStore;

beforeAll(async () => {
  servers = await Promise.all([startRedis(), startRedis(), startRedis()]);
  const [home] = servers as [RedisServer];
  cables = await Promise.all([0, 1].map(() => startFaultProxy(home)));
  near = await Promise.all(servers.slice(1).map((server) => startFaultProxy(server)));
  homeClient = new Redis(home.connection);
  homeStore = redisStore(homeClient);
});
afterAll(async () => {
  homeClient.disconnect();
  await homeStore.close();
  await Promise.all([...cables, ...near].map((cable) => cable.close()));
  await Promise.all(servers.map((server) => server.close()));
});
beforeEach(async () => {
  for (const cable of cables) cable.delay({ toServerMs: ONE_WAY_MS, toClientMs: ONE_WAY_MS });
  await homeClient.flushall();
});

const listen = (client: Redis) => client.on('error', () => {});

/** Its own clients; the cable is its region's. */
async function startReplica(
  region: 0 | 1,
  policies: Record<string, PolicyOptions>,
  lease: LeaseOptions | undefined,
): Promise<Replica> {
  const own = (near[region] as FaultProxy).connection as object;
  const far = (cables[region] as FaultProxy).connection as object;
  const client = listen(new Redis({ ...own, ...CLIENT }));
  const homeClientHere = listen(new Redis({ ...far, ...CLIENT }));
  await Promise.all([client.ping(), homeClientHere.ping()]);
  const home = redisStore(homeClientHere);
  const events: StoreEvent[] = [];
  const store = regionalStore(client, {
    home,
    share: 0.5,
    deadline: '150ms',
    homeDeadline: '250ms',
    lease,
    onEvent: (event) => events.push(event),
  });
  const limiter = createLimiter({ policies, store, fallback: { deadline: '2s', replicas: 2 } });
  const close = async () => {
    await limiter.close();
    await store.close();
    await home.close();
    client.disconnect();
    homeClientHere.disconnect();
  };
  const replica = { region, limiter, store, events, asked: 0, client, close };
  const [consume, claim] = [home.consume.bind(home), home.claim.bind(home)];
  home.consume = (...args) => {
    replica.asked++;
    return consume(...args);
  };
  home.claim = (asked) => {
    replica.asked++;
    return claim(asked);
  };
  return replica;
}

async function withReplicas(
  policies: Record<string, PolicyOptions>,
  use: (replicas: Replica[]) => Promise<void>,
  lease?: LeaseOptions,
): Promise<void> {
  const replicas = await Promise.all(
    [0, 0, 1, 1].map((region) => startReplica(region as 0 | 1, policies, lease)),
  );
  try {
    await Promise.all([1, 2].map((i) => (replicas[2 * i - 2] as Replica).client.flushall()));
    await use(replicas);
  } finally {
    await Promise.all(replicas.map(({ close }) => close()));
  }
}

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Tally {
  asked: number;
  allowed: number;
  denied: number;
  alone: number;
  readonly byRegion: [number, number];
}

/** Each replica asks for `each` permits of `p`, every 2 ms, until `rounds` are over. */
async function load(replicas: readonly Replica[], rounds: number, each: number): Promise<Tally> {
  const tally: Tally = { asked: 0, allowed: 0, denied: 0, alone: 0, byRegion: [0, 0] };
  const calls: Promise<void>[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const { limiter, region } of replicas) {
      for (let i = 0; i < each; i++) {
        tally.asked++;
        const call = limiter.consume({ p: 'k' }).then((decision) => {
          if (decision.fallback) tally.alone++;
          if (!decision.allowed) tally.denied++;
          else {
            tally.allowed++;
            (tally.byRegion as number[])[region] = (tally.byRegion[region as 0 | 1] ?? 0) + 1;
          }
        });
        calls.push(call);
      }
    }
    await rest(2);
  }
  await Promise.all(calls);
  return tally;
}

function add(to: Tally, more: Tally): void {
  to.asked += more.asked;
  to.allowed += more.allowed;
  to.denied += more.denied;
  to.alone += more.alone;
}

const crossings = (replicas: readonly Replica[]) =>
  replicas.reduce((sum, { asked }) => sum + asked, 0);

/** All that was admitted can be read off a window that does not end while a test runs. */
const DAY: Record<string, PolicyOptions> = {
  p: { limit: 20_000, window: '1d', algorithm: 'fixed-window' },
};

it('decides a busy bucket in the region: fewer than one call of twenty asks the home store', () =>
  withReplicas(DAY, async (replicas) => {
    await load(replicas, 40, 2);
    const before = crossings(replicas);
    const { asked, alone } = await load(replicas, 80, 2);
    expect(alone).toBe(0);
    expect((crossings(replicas) - before) / asked).toBeLessThan(0.05);
  }));

it('G1 admits over all regions all that the policy has, to the permit', () =>
  withReplicas(
    { p: { limit: 500, window: '1d', algorithm: 'fixed-window' } },
    async (replicas) => {
      let allowed = 0;
      // Until nobody was allowed anything for longer than a region holds permits or remembers a denial.
      for (let sinceMs = Date.now(); Date.now() - sinceMs < 2500; ) {
        const more = await load(replicas, 25, allowed < 400 ? 2 : 1);
        expect(more.alone).toBe(0);
        if (more.allowed > 0) sinceMs = Date.now();
        allowed += more.allowed;
        // Then there is none left; a permit too many would come back by now.
        if (allowed === 500 && Date.now() - sinceMs > 600) break;
      }
      expect(allowed).toBe(500);
    },
    { ttl: '500ms' },
  ));

it('G1 loses a replica of several, and hands nothing out twice', () =>
  withReplicas({ p: { limit: 400, window: '1d', algorithm: 'fixed-window' } }, async (replicas) => {
    const [lost, ...others] = replicas as [Replica, ...Replica[]];
    const first = load([lost], 30, 2).catch(() => undefined);
    const all = await load(others, 15, 2);
    lost.client.disconnect();
    const lostTally = await first;
    const more = await load(others, 80, 3);
    const byStore = (lostTally?.allowed ?? 0) - (lostTally?.alone ?? 0);
    expect(all.allowed + more.allowed + byStore).toBeLessThanOrEqual(400);
    expect(all.alone + more.alone).toBe(0);
  }));

it.each(['refuse', 'blackhole'] as const)(
  'cut off by %s: every call is answered, by the share, and charged later',
  (how) =>
    withReplicas(
      { p: { limit: 400, window: '1d', algorithm: 'fixed-window' } },
      async (replicas) => {
        const [cable] = cables as [FaultProxy];
        const here = replicas.filter(({ region }) => region === 0);
        const before = await load(here, 5, 1);
        if (how === 'refuse') await cable.refuse();
        else cable.blackhole();
        const cut = await load(here, 50, 1);
        for (let i = 0; i < 200 && here.some(({ store }) => store.homeState === 'up'); i++) {
          add(cut, await load(here, 10, 1));
        }
        add(cut, await load(here, 50, 1));
        expect(cut.allowed + cut.denied).toBe(cut.asked);
        // What the region holds, and its share of what was left.
        expect(before.allowed + cut.allowed).toBeLessThanOrEqual(400);
        expect(cut.alone).toBeGreaterThan(0);
        const alone = cut.allowed;
        expect(alone).toBeGreaterThan(0);
        if (how === 'refuse') await cable.accept();
        else cable.heal();
        await expect
          .poll(() => here.every(({ store }) => store.homeState === 'up'), { timeout: 8000 })
          .toBe(true);
        for (const { events } of here) {
          const kinds = new Set(events.map(({ type }) => type));
          for (const kind of ['store-lost', 'store-found', 'store-back'] as const)
            expect(kinds).toContain(kind);
        }
        // All that was admitted is charged to the home store.
        const atHome = replicas.filter(({ region }) => region === 1);
        const left = async () => (await (atHome[0] as Replica).limiter.peek({ p: 'k' })).remaining;
        await expect
          .poll(left, { timeout: 4000 })
          .toBeLessThanOrEqual(400 - before.allowed - cut.allowed);
        const after = await load(replicas, 60, 1);
        expect(before.allowed + cut.allowed + after.allowed).toBeLessThanOrEqual(400);
      },
    ),
);

it('the home store slower than its deadline: every call is answered, by the share where need be', () =>
  withReplicas(DAY, async (replicas) => {
    const [cable] = cables as [FaultProxy];
    cable.delay({ toServerMs: 300, toClientMs: 300 });
    const here = replicas.filter(({ region }) => region === 0);
    const slow = await load(here, 40, 1);
    expect(slow.allowed + slow.denied).toBe(slow.asked);
    expect(slow.alone).toBeGreaterThan(0);
    expect(slow.denied).toBe(0);
  }));

it.each(['refuse', 'blackhole'] as const)(
  'the Redis of a region lost by %s: each replica decides by its part, nothing is thrown',
  (how) =>
    withReplicas(
      { p: { limit: 400, window: '1d', algorithm: 'fixed-window' } },
      async (replicas) => {
        const [cable] = near as [FaultProxy];
        const here = replicas.filter(({ region }) => region === 0);
        await load(here, 5, 1);
        if (how === 'refuse') await cable.refuse();
        else cable.blackhole();
        const lost = await load(here, 50, 6);
        expect(lost.allowed + lost.denied).toBe(lost.asked);
        expect(lost.alone).toBeGreaterThan(0);
        // Two replicas, told so: each has at most half of the quota.
        expect(lost.allowed).toBeLessThanOrEqual(400);
        if (how === 'refuse') await cable.accept();
        else cable.heal();
        const answered = async () => (await (here[0] as Replica).limiter.peek({ p: 'k' })).origin;
        await expect.poll(answered, { timeout: 8000 }).toBe('store');
      },
    ),
);
