import type { Decision } from '../../decision/decision.js';
import { checkOptionNames, closed, storeFailed } from '../../errors.js';
import { type Policy, samePolicy } from '../../policy/policy.js';
import type { Store } from '../store.js';
import { Batch, type Check } from './batch.js';
import { bucketKey, checkPrefix } from './bucket-key.js';
import { checkClient, type RedisClient } from './client.js';
import { runScript, type Script } from './script.js';
import { tokenBucket } from './scripts.generated.js';

export interface RedisStoreOptions {
  /**
   * How all bucket keys begin: 1 to 64 letters, digits, `_`, `.`, `:` or `-`. Default `rl`.
   * Apps with different prefixes share a server without sharing quotas.
   */
  prefix?: string;
}

/** What tests put in place of the server's clock. */
export interface ScriptSource {
  readonly tokenBucket: Script;
  /** Appended to the arguments of every call. */
  extraArgs(): number[];
}

const SERVER_CLOCK: ScriptSource = { tokenBucket, extraArgs: () => [] };

/**
 * Most buckets of one call. A longer one would keep the server from its other clients, and this
 * process idle meanwhile: of several calls, one is settled while the server works on the next.
 */
const MAX_BATCH = 128;

/**
 * Buckets in Redis: one quota for all replicas, decided by the server's clock.
 *
 * Checks made in one turn of the event loop go out together. On one server they are one call; on a
 * Cluster one for each partition key, whose buckets share a slot. Safe to share between limiters.
 */
export class RedisStore implements Store {
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #source: ScriptSource;
  /** By name: the policies of checks that wait, in their first copy. */
  readonly #policies = new Map<string, Policy>();
  /** By partition key on a Cluster, else a single one under the empty text. */
  #batches = new Map<string, Batch>();
  readonly #inFlight = new Set<Promise<void>>();
  #scheduled = false;
  #closed = false;

  constructor(
    client: RedisClient,
    options: RedisStoreOptions = {},
    source: ScriptSource = SERVER_CLOCK,
  ) {
    checkClient(client);
    checkOptionNames('', options, ['prefix']);
    this.#client = client;
    this.#prefix = checkPrefix(options.prefix ?? 'rl');
    this.#source = source;
  }

  tryConsume(): undefined {
    if (this.#closed) throw closed('store');
    return undefined;
  }

  consume(policy: Policy, partitionKey: string, cost: number): Promise<Decision> {
    if (this.#closed) return Promise.reject(closed('store'));
    return new Promise((resolve, reject) => {
      this.#join(policy, partitionKey, { cost, resolve, reject, next: undefined });
    });
  }

  refund(policy: Policy, partitionKey: string, cost: number): Promise<Decision> {
    return this.consume(policy, partitionKey, -cost);
  }

  async reset(policy: Policy, partitionKey: string): Promise<void> {
    if (this.#closed) throw closed('store');
    // What was asked for before goes out before.
    this.#flush();
    try {
      await this.#client.del(bucketKey(this.#prefix, policy, partitionKey));
    } catch (error) {
      throw storeFailed('reset the bucket', error);
    }
  }

  /** Sends what waits and resolves when all is answered. The client stays open: it is the app's. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#flush();
    await Promise.all(this.#inFlight);
  }

  #join(policy: Policy, partitionKey: string, check: Check): void {
    const known = this.#knownPolicy(policy);
    const group = this.#client.isCluster ? partitionKey : '';
    let batch = this.#batches.get(group);
    if (batch === undefined) {
      batch = new Batch();
      this.#batches.set(group, batch);
    }
    batch.add(known, partitionKey, check);
    if (batch.size >= MAX_BATCH) {
      this.#batches.delete(group);
      this.#send(batch);
    } else if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(() => this.#flush());
    }
  }

  /** The one object for policies of this name and these values; others of the name go out first. */
  #knownPolicy(policy: Policy): Policy {
    const known = this.#policies.get(policy.name);
    if (known === policy) return policy;
    if (known !== undefined && samePolicy(known, policy)) return known;
    if (known !== undefined) this.#flush();
    this.#policies.set(policy.name, policy);
    return policy;
  }

  #flush(): void {
    this.#scheduled = false;
    const batches = this.#batches;
    // A cleared map would keep its old table, and batch after batch, reachable for the collector.
    this.#batches = new Map();
    for (const batch of batches.values()) this.#send(batch);
  }

  #send(batch: Batch): void {
    const sent = this.#run(batch).finally(() => this.#inFlight.delete(sent));
    this.#inFlight.add(sent);
  }

  async #run(batch: Batch): Promise<void> {
    try {
      const { keys, args } = batch.call((policy, key) => bucketKey(this.#prefix, policy, key));
      args.push(...this.#source.extraArgs());
      batch.settle(await runScript(this.#client, this.#source.tokenBucket, keys, args));
    } catch (error) {
      batch.fail(storeFailed('decide', error));
    }
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
