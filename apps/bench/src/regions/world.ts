import { createLimiter, type Decision, type Limiter, type PolicyOptions } from '@rl/core';
import { type FaultProxy, type RedisServer, startFaultProxy, startRedis } from '@rl/testkit';
import { Redis, type RedisOptions } from 'ioredis';
import { FarStore } from './far-store.js';
import type { SetUp } from './set-ups.js';

export const REGIONS = 2;
const REPLICAS_EACH = 2;

/** One replica in one region. */
export interface RegionReplica {
  readonly region: number;
  readonly limiter: Limiter;
  readonly far: FarStore | undefined;
}

/** A home Redis, a Redis in each region, replicas, and cables between the regions that can be cut. */
export class World {
  readonly replicas: RegionReplica[] = [];
  readonly #servers: RedisServer[] = [];
  readonly #clients: Redis[] = [];
  readonly #closing: (() => Promise<void>)[] = [];
  #cable: FaultProxy | undefined;

  static async start(
    setUp: SetUp,
    policies: Readonly<Record<string, PolicyOptions>>,
    roundTripMs: number,
  ): Promise<World> {
    const world = new World();
    try {
      await world.#start(setUp, policies, roundTripMs);
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  async cut(): Promise<void> {
    await this.#cable?.refuse();
  }

  async mend(): Promise<void> {
    await this.#cable?.accept();
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
    for (const client of this.#clients) client.disconnect();
    await this.#cable?.close();
    for (const server of this.#servers) await server.close();
  }

  async #start(
    setUp: SetUp,
    policies: Readonly<Record<string, PolicyOptions>>,
    roundTripMs: number,
  ): Promise<void> {
    for (let i = 0; i <= REGIONS; i++) this.#servers.push(await startRedis());
    const [homeServer, ...regions] = this.#servers as [RedisServer, ...RedisServer[]];
    const oneWayMs = Math.round(roundTripMs / 2);
    const delay = { toServerMs: oneWayMs, toClientMs: roundTripMs - oneWayMs };
    this.#cable = await startFaultProxy(homeServer, delay);
    for (const [region, server] of regions.entries()) {
      for (let i = 0; i < REPLICAS_EACH; i++) {
        let far: FarStore | undefined;
        const store = setUp.store({
          region: await this.#connect(server.connection),
          home: await this.#connect(this.#cable.connection),
          regions: REGIONS,
          roundTripMs,
          far: (inner) => {
            far = new FarStore(inner);
            return far;
          },
        });
        const own = Object.entries(policies).map(([name, policy]) => [
          name,
          setUp.policy(policy, REGIONS),
        ]);
        const fallback = { ...setUp.fallback(roundTripMs), onEvent: () => {} };
        const limiter = createLimiter({ policies: Object.fromEntries(own), store, fallback });
        this.#closing.push(
          () => limiter.close(),
          () => store.close(),
        );
        this.replicas.push({ region, limiter, far });
      }
    }
  }

  async #connect(connection: object): Promise<Redis> {
    const client = new Redis({
      ...(connection as Omit<RedisOptions, 'replyMapping'>),
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(attempt * 50, 500),
    });
    client.on('error', () => {});
    this.#clients.push(client);
    await client.ping();
    return client;
  }
}

/** What became of a call. */
export interface Told {
  readonly region: number;
  readonly atMs: number;
  readonly tookMs: number;
  readonly decision: Decision;
}

/** Offers calls evenly in time, to one replica after the other, and waits for all decisions. */
export async function offer(
  { replicas }: World,
  policy: string,
  perSecond: number,
  forMs: number,
  signal: AbortSignal,
): Promise<Told[]> {
  const told: Told[] = [];
  const calls: Promise<void>[] = [];
  const fromMs = performance.now();
  for (let sent = 0; performance.now() - fromMs < forMs; ) {
    signal.throwIfAborted();
    for (const due = ((performance.now() - fromMs) * perSecond) / 1000; sent < due; sent++) {
      const { region, limiter } = replicas[sent % replicas.length] as RegionReplica;
      const atMs = performance.now();
      const call = limiter.tryConsume({ [policy]: 'tenant' });
      const note = (decision: Decision) => {
        told.push({ region, atMs, tookMs: performance.now() - atMs, decision });
      };
      if (call !== undefined) note(call);
      else calls.push(limiter.consume({ [policy]: 'tenant' }).then(note));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(calls);
  return told;
}
