import type { Decision } from '../../decision/decision.js';
import { checkOptionNames, closed, notLeased } from '../../errors.js';
import type { StoreMetrics } from '../../metrics/store-metrics.js';
import type { Policy } from '../../policy/policy.js';
import { type Clock, monotonicClock } from '../../time/clock.js';
import { consumeInTurn } from '../consume-in-turn.js';
import type { Charge, Claim, Examination, Grant, Store } from '../store.js';
import { Batches } from './batches.js';
import { checkName } from './bucket-key.js';
import { checkClient, type RedisClient } from './client.js';
import { placeOfBy, withPlace } from './cluster-places.js';
import type { DurabilityOptions } from './durability.js';
import { Heartbeat } from './heartbeat.js';
import { ownReplicaId } from './replica-id.js';
import { type ScriptSource, SERVER_CLOCK } from './script-source.js';
import { ShardedBuckets } from './shards/sharded-buckets.js';
import { isSharded } from './shards/shares.js';

export interface RedisStoreOptions {
  /**
   * How all bucket keys begin: 1 to 64 letters, digits, `_`, `.`, `:` or `-`. Default `rl`.
   * Apps with different prefixes share a server without sharing quotas.
   */
  prefix?: string;
  /**
   * What this replica calls itself where replicas are counted: no other may have the same, and a
   * store of the same replica must. 1 to 64 letters, digits, `_`, `.`, `:` or `-`. Default: a random
   * one for this process, or thread, whatever the number of its stores.
   */
  replicaId?: string;
  /**
   * Tells a decision only when so many Redis replicas have it, as far as they answer in time: what a
   * failover loses becomes less. Default: what the primary decided is told at once.
   */
  durability?: DurabilityOptions | undefined;
}

/**
 * Buckets in Redis: one quota for all replicas, decided by the server's clock.
 *
 * Checks made in one turn of the event loop go out together. On one server they are one call; on a
 * Cluster one for each partition key, whose buckets share a slot, and each of its shards; while that
 * slot is on the move, one for each bucket. Safe to share between limiters.
 */
export class RedisStore implements Store {
  readonly clock: Clock | undefined;
  /** Where the client is a Cluster's: the node that serves a partition key, as `host:port`. */
  readonly placeOf: ((partitionKey: string) => string) | undefined;
  readonly metrics: StoreMetrics;
  readonly #batches: Batches;
  readonly #heartbeat: Heartbeat;
  readonly #shards: ShardedBuckets;
  #closed = false;

  constructor(
    client: RedisClient,
    options: RedisStoreOptions = {},
    source: ScriptSource = SERVER_CLOCK,
  ) {
    checkClient(client);
    checkOptionNames('', options, ['prefix', 'replicaId', 'durability']);
    const prefix = checkName('prefix', options.prefix ?? 'rl');
    this.#batches = new Batches(client, prefix, options.durability, source);
    const { sizes } = this.#batches;
    this.metrics = {
      get batchSize() {
        return sizes.read();
      },
    };
    const replicaId = checkName('replicaId', options.replicaId ?? ownReplicaId());
    this.#heartbeat = new Heartbeat(
      (id, lifeMs) => this.#batches.sendHeartbeat(id, lifeMs),
      replicaId,
    );
    this.clock = source.clock;
    this.placeOf = placeOfBy(client);
    this.#shards = new ShardedBuckets(
      {
        consume: (policy, key, cost) => this.#batches.consume(policy, key, cost),
        look: (policy, key, costs) =>
          this.#batches.ask(
            'look',
            costs.map((cost) => ({ policy, key, cost })),
          ),
        refund: (policy, key, permits, takenAtMs) =>
          this.#batches.askOne('refund', policy, key, permits, takenAtMs),
        overcharge: (policy, key, permits) =>
          this.#batches.askOne('overcharge', policy, key, permits),
        reset: (policy, key) => this.#batches.askOne('reset', policy, key, 0),
        claim: (claim) => this.#batches.claim(claim),
      },
      source.clock ?? monotonicClock,
    );
  }

  get waitMs(): number {
    return this.#batches.waitMs;
  }

  get unreplicated(): number | undefined {
    return this.#batches.unreplicated;
  }

  tryConsume(): undefined {
    if (this.#closed) throw closed('store');
    return undefined;
  }

  consume(policy: Policy, partitionKey: string, cost: number): Promise<Decision> {
    if (this.#closed) return Promise.reject(closed('store'));
    if (isSharded(policy)) {
      return this.#batches.track(this.#shards.consume(policy, partitionKey, cost));
    }
    return this.#batches.consume(policy, partitionKey, cost);
  }

  tryConsumeAll(): undefined {
    return this.tryConsume();
  }

  async consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    if (this.#closed) throw closed('store');
    const groups = new Map<string, Charge[]>();
    for (const charge of charges) {
      // A sharded bucket is no part of any script: it is charged by itself.
      const group = isSharded(charge.policy)
        ? `shards ${groups.size}`
        : this.#batches.groupOf(charge.policy, charge.key);
      groups.set(group, [...(groups.get(group) ?? []), charge]);
    }
    const [first] = charges;
    if (groups.size === 1 && first !== undefined && !isSharded(first.policy)) {
      return this.#batches.ask('consume', charges);
    }
    const refund = ({ policy, key, cost }: Charge, takenAtMs: number) =>
      this.#refund(policy, key, cost, takenAtMs);
    const inTurn = consumeInTurn(
      [...groups.values()],
      (what, group) => this.#askPlace(what, group),
      refund,
    );
    const decisions = await this.#batches.track(inTurn);
    return charges.map((charge) => decisions.get(charge) as Decision);
  }

  claim(claim: Claim): Promise<Grant | undefined> {
    if (this.#closed) return Promise.reject(closed('store'));
    const { policy } = claim;
    if (policy.lease === undefined) return Promise.reject(notLeased(policy));
    if (isSharded(policy)) return this.#batches.track(this.#shards.claim(claim, policy));
    return this.#batches.claim(claim);
  }

  refund(
    policy: Policy,
    partitionKey: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    if (this.#closed) return Promise.reject(closed('store'));
    return this.#refund(policy, partitionKey, permits, takenAtMs);
  }

  #refund(
    policy: Policy,
    partitionKey: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    if (isSharded(policy)) {
      return this.#batches.track(this.#shards.refund(policy, partitionKey, permits, takenAtMs));
    }
    return this.#batches.askOne('refund', policy, partitionKey, permits, takenAtMs);
  }

  overcharge(policy: Policy, partitionKey: string, permits: number): Promise<Decision> {
    if (this.#closed) return Promise.reject(closed('store'));
    if (isSharded(policy)) {
      return this.#batches.track(this.#shards.overcharge(policy, partitionKey, permits));
    }
    return this.#batches.askOne('overcharge', policy, partitionKey, permits);
  }

  /** Of a bucket in shards nobody knows at one instant what is out. */
  async examine(policy: Policy, partitionKey: string, cost: number): Promise<Examination> {
    if (this.#closed) throw closed('store');
    if (!isSharded(policy)) return this.#batches.examine(policy, partitionKey, cost);
    const look = this.#shards.look(policy, partitionKey, cost);
    return { decision: await this.#batches.track(look), out: undefined };
  }

  async reset(policy: Policy, partitionKey: string): Promise<void> {
    if (this.#closed) throw closed('store');
    if (isSharded(policy)) await this.#batches.track(this.#shards.reset(policy, partitionKey));
    else await this.#batches.askOne('reset', policy, partitionKey, 0);
  }

  async heartbeat(): Promise<number> {
    if (this.#closed) throw closed('store');
    try {
      return await this.#heartbeat.beat();
    } catch (error) {
      throw this.#batches.failure('count the replicas', error);
    }
  }

  /**
   * Sends what waits and resolves when all is answered; what has no answer after 1 s fails then. The
   * client stays open: it is the app's.
   */
  async close(): Promise<void> {
    this.#closed = true;
    void this.#batches.track(this.#heartbeat.leave());
    await this.#batches.end();
  }

  /** As `#askGroup`; an error says of which place, where it is of one alone. */
  async #askPlace(
    what: 'consume' | 'look',
    charges: readonly Charge[],
  ): Promise<readonly Decision[]> {
    try {
      return await this.#askGroup(what, charges);
    } catch (error) {
      const isOfOne = charges.every(({ policy }) => !isSharded(policy));
      throw isOfOne ? withPlace(error, charges, this.placeOf) : error;
    }
  }

  /** @param charges of what one script can reach, or one of a sharded bucket */
  async #askGroup(
    what: 'consume' | 'look',
    charges: readonly Charge[],
  ): Promise<readonly Decision[]> {
    const { policy, key, cost } = charges[0] as Charge;
    return isSharded(policy)
      ? [await this.#shards[what](policy, key, cost)]
      : this.#batches.ask(what, charges);
  }
}

/**
 * A store in Redis behind the app's own client.
 *
 * @param client an ioredis Redis or Cluster, version 5.4 or 6
 */
export function redisStore(client: RedisClient, options?: RedisStoreOptions): RedisStore {
  return new RedisStore(client, options);
}
