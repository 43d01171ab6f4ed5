import type { Decision } from '../../decision/decision.js';
import {
  checkOptionNames,
  closed,
  notLeased,
  type RateLimitError,
  storeFailed,
} from '../../errors.js';
import type { Policy } from '../../policy/policy.js';
import type { Clock } from '../../time/clock.js';
import { putBack } from '../put-back.js';
import type { Charge, Claim, Grant, Store } from '../store.js';
import type { Batch } from './batch.js';
import { bucketKey, checkName } from './bucket-key.js';
import { type Check, ChecksBatch, type Question } from './checks-batch.js';
import { checkClient, type RedisClient } from './client.js';
import { ClientGate } from './client-gate.js';
import { Heartbeat, replicasKey } from './heartbeat.js';
import { InFlight } from './in-flight.js';
import { permissionHint } from './permissions.js';
import { PlainBatch, type PlainCheck } from './plain-batch.js';
import { ownReplicaId } from './replica-id.js';
import { ScriptRunner, type Scripts } from './script.js';
import { checks, heartbeat, plainChecks } from './scripts.generated.js';
import { faultOf } from './store-fault.js';

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
}

/** What tests put in place of the server's clock. */
export interface ScriptSource {
  readonly scripts: Scripts;
  /** Appended to the arguments of every call. */
  extraArgs(): number[];
  readonly clock?: Clock;
}

/** How long `close` waits for a server that does not answer. */
const CLOSE_TIMEOUT_MS = 1000;

const SERVER_CLOCK: ScriptSource = {
  scripts: { plainChecks, checks, heartbeat },
  extraArgs: () => [],
};

/**
 * Buckets in Redis: one quota for all replicas, decided by the server's clock.
 *
 * Checks made in one turn of the event loop go out together. On one server they are one call; on a
 * Cluster one for each partition key, whose buckets share a slot. Safe to share between limiters.
 */
export class RedisStore implements Store {
  readonly clock: Clock | undefined;
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #source: ScriptSource;
  /** By partition key on a Cluster, else a single one under the empty text. */
  #batches = new Map<string, PlainBatch | ChecksBatch>();
  readonly #gate: ClientGate;
  readonly #runner: ScriptRunner;
  readonly #inFlight = new InFlight();
  /** Those that wait for their reply. */
  readonly #sent = new Set<Batch>();
  readonly #heartbeat: Heartbeat;
  #scheduled = false;
  #closed = false;
  /** True where the store was closed and its server did not answer. */
  #gaveUp = false;

  constructor(
    client: RedisClient,
    options: RedisStoreOptions = {},
    source: ScriptSource = SERVER_CLOCK,
  ) {
    checkClient(client);
    checkOptionNames('', options, ['prefix', 'replicaId']);
    this.#client = client;
    this.#gate = new ClientGate(client);
    this.#runner = new ScriptRunner(this.#gate);
    this.#prefix = checkName('prefix', options.prefix ?? 'rl');
    this.#source = source;
    const replicaId = checkName('replicaId', options.replicaId ?? ownReplicaId());
    this.#heartbeat = new Heartbeat((id, lifeMs) => this.#sendHeartbeat(id, lifeMs), replicaId);
    this.clock = source.clock;
  }

  tryConsume(): undefined {
    if (this.#closed) throw closed('store');
    return undefined;
  }

  consume(policy: Policy, partitionKey: string, cost: number): Promise<Decision> {
    if (this.#closed) return Promise.reject(closed('store'));
    const group = this.#groupOf(partitionKey);
    if (policy.algorithm !== 'token-bucket' || this.#batches.get(group) instanceof ChecksBatch) {
      return this.#askOne('consume', policy, partitionKey, cost);
    }
    return new Promise((resolve, reject) => {
      this.#joinPlain(group, policy, partitionKey, { cost, resolve, reject, next: undefined });
    });
  }

  tryConsumeAll(): undefined {
    return this.tryConsume();
  }

  async consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    if (this.#closed) throw closed('store');
    const groups = new Map<string, Charge[]>();
    for (const charge of charges) {
      const group = this.#groupOf(charge.key);
      groups.set(group, [...(groups.get(group) ?? []), charge]);
    }
    if (groups.size === 1) return this.#ask('consume', charges);
    const decisions = await this.#inFlight.track(this.#consumeInTurn([...groups.values()]));
    return charges.map((charge) => decisions.get(charge) as Decision);
  }

  claim(claim: Claim): Promise<Grant | undefined> {
    if (this.#closed) return Promise.reject(closed('store'));
    if (claim.policy.lease === undefined) return Promise.reject(notLeased(claim.policy));
    return new Promise((resolve, reject) => {
      this.#add({ what: 'claim', claim, resolve, reject }, claim.key);
    });
  }

  refund(
    policy: Policy,
    partitionKey: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    if (this.#closed) return Promise.reject(closed('store'));
    return this.#askOne('refund', policy, partitionKey, permits, takenAtMs);
  }

  overcharge(policy: Policy, partitionKey: string, permits: number): Promise<Decision> {
    if (this.#closed) return Promise.reject(closed('store'));
    return this.#askOne('overcharge', policy, partitionKey, permits);
  }

  async reset(policy: Policy, partitionKey: string): Promise<void> {
    if (this.#closed) throw closed('store');
    await this.#askOne('reset', policy, partitionKey, 0);
  }

  async heartbeat(): Promise<number> {
    if (this.#closed) throw closed('store');
    try {
      return await this.#heartbeat.beat();
    } catch (error) {
      throw this.#failure('count the replicas', error);
    }
  }

  /**
   * Sends what waits and resolves when all is answered; what has no answer after 1 s fails then. The
   * client stays open: it is the app's.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#flush();
    void this.#inFlight.track(this.#heartbeat.leave());
    this.#gaveUp ||= !(await this.#inFlight.end(CLOSE_TIMEOUT_MS));
    if (this.#gaveUp) for (const batch of this.#sent) this.#abandon(batch);
  }

  /** On a Cluster the keys of one call share a slot: one hash tag is sure to. */
  #groupOf(partitionKey: string): string {
    return this.#client.isCluster ? partitionKey : '';
  }

  /**
   * Charges groups of buckets that no one script can reach, one after the other. Where one is
   * denied, what the groups before it were charged is put back and those behind it are only looked
   * at; where one cannot be asked, it is put back too. For a moment too strict, never too generous.
   */
  async #consumeInTurn(groups: readonly Charge[][]): Promise<Map<Charge, Decision>> {
    const decisions = new Map<Charge, Decision>();
    const charged: Charge[] = [];
    const refund = ({ policy, key, cost }: Charge, takenAtMs: number) =>
      this.#askOne('refund', policy, key, cost, takenAtMs);
    const putAllBack = () => charged.map((charge) => putBack(charge, decisions, refund));
    let denied = false;
    try {
      for (const group of groups) {
        const answers = await this.#ask(denied ? 'look' : 'consume', group);
        group.forEach((charge, i) => {
          decisions.set(charge, answers[i] as Decision);
        });
        if (!answers.every(({ allowed }) => allowed)) denied = true;
        else if (!denied) charged.push(...group);
      }
    } catch (error) {
      await Promise.allSettled(putAllBack());
      throw error;
    }
    if (denied) await Promise.all(putAllBack());
    return decisions;
  }

  async #askOne(
    what: Check['what'],
    policy: Policy,
    key: string,
    cost: number,
    takenAtMs?: number,
  ): Promise<Decision> {
    return (await this.#ask(what, [{ policy, key, cost }], takenAtMs))[0] as Decision;
  }

  /** Asks also while the store closes, on behalf of calls made before. @param charges of one group */
  #ask(
    what: Check['what'],
    charges: readonly Charge[],
    takenAtMs?: number,
  ): Promise<readonly Decision[]> {
    return new Promise((resolve, reject) => {
      this.#add({ what, charges, takenAtMs, resolve, reject }, (charges[0] as Charge).key);
    });
  }

  #add(question: Question, partitionKey: string): void {
    const group = this.#groupOf(partitionKey);
    const held = this.#batches.get(group);
    if (held instanceof ChecksBatch && held.add(question)) {
      this.#added(group, held);
      return;
    }
    if (held !== undefined) this.#send(held);
    const batch = new ChecksBatch();
    batch.add(question);
    this.#batches.set(group, batch);
    this.#added(group, batch);
  }

  #joinPlain(group: string, policy: Policy, partitionKey: string, check: PlainCheck): void {
    const held = this.#batches.get(group) as PlainBatch | undefined;
    if (held?.add(policy, partitionKey, check)) {
      this.#added(group, held);
      return;
    }
    if (held !== undefined) this.#send(held);
    const batch = new PlainBatch();
    batch.add(policy, partitionKey, check);
    this.#batches.set(group, batch);
    this.#added(group, batch);
  }

  /** A batch is sent when it has grown enough, else at the end of this turn. */
  #added(group: string, batch: PlainBatch | ChecksBatch): void {
    if (batch.isFull) {
      this.#batches.delete(group);
      this.#send(batch);
    } else if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(() => this.#flush());
    }
  }

  #flush(): void {
    this.#scheduled = false;
    const batches = this.#batches;
    // A cleared map would keep its old table, and batch after batch, reachable for the collector.
    this.#batches = new Map();
    for (const batch of batches.values()) this.#send(batch);
  }

  #send(batch: Batch): void {
    if (this.#gaveUp) this.#abandon(batch);
    else void this.#inFlight.track(this.#run(batch));
  }

  #abandon(batch: Batch): void {
    const why = `no answer within ${CLOSE_TIMEOUT_MS} ms of closing`;
    batch.fail(storeFailed('decide', why, 'timeout'));
    this.#sent.delete(batch);
  }

  #sendHeartbeat(replicaId: string, lifeMs: number): Promise<unknown> {
    const args = [replicaId, lifeMs, ...this.#source.extraArgs()];
    return this.#runner.run(this.#source.scripts.heartbeat, [replicasKey(this.#prefix)], args);
  }

  async #run(batch: Batch): Promise<void> {
    this.#sent.add(batch);
    try {
      const { keys, args } = batch.call((policy, key) => bucketKey(this.#prefix, policy, key));
      args.push(...this.#source.extraArgs());
      batch.settle(await this.#runner.run(this.#source.scripts[batch.script], keys, args));
    } catch (error) {
      batch.fail(this.#failure('decide', error));
    } finally {
      this.#sent.delete(batch);
    }
  }

  #failure(what: string, error: unknown): RateLimitError {
    this.#gate.failed(error);
    return storeFailed(what, error, faultOf(error), permissionHint(error, this.#prefix));
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
