import type { Decision } from '../../decision/decision.js';
import { type RateLimitError, storeFailed } from '../../errors.js';
import { Histogram } from '../../metrics/histogram.js';
import type { Policy } from '../../policy/policy.js';
import type { Charge, Claim, Examination, Grant } from '../store.js';
import type { Batch } from './batch.js';
import { bucketKey } from './bucket-key.js';
import { type Check, ChecksBatch, type Question } from './checks-batch.js';
import type { RedisClient } from './client.js';
import { ClientGate } from './client-gate.js';
import { nodeOfBy } from './cluster-places.js';
import { Durability, type DurabilityOptions } from './durability.js';
import { replicasKey } from './heartbeat.js';
import { InFlight } from './in-flight.js';
import { type Ask, askApart } from './in-turn.js';
import { MovingSlots } from './moving-slots.js';
import { PlainBatch, type PlainCheck } from './plain-batch.js';
import { ScriptRunner } from './script.js';
import type { ScriptSource } from './script-source.js';
import { shardOf } from './shards/shares.js';

/** Upper bounds of the sizes of batches: powers of 4, up to what one call may have. */
const SIZES: readonly number[] = [1, 4, 16, 64, 256, 1024];

/** How long `close` waits for a server that does not answer. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * Gathers what is asked in one turn of the event loop into batches, sends them, and hands on the answers. On one
 * server a turn's checks are one batch; on a Cluster there is one for each partition key, whose buckets share a
 * slot, and each of its shards; while that slot is on the move, one for each bucket.
 */
export class Batches {
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #source: ScriptSource;
  /** By what shares a slot on a Cluster, else a single one under the empty text. */
  #batches = new Map<string, PlainBatch | ChecksBatch>();
  /** How many checks went out in one call. */
  readonly sizes: Histogram = new Histogram(SIZES);
  readonly #gate: ClientGate;
  readonly #runner: ScriptRunner;
  readonly #inFlight = new InFlight();
  /** Those that wait for their reply. */
  readonly #sent = new Set<Batch>();
  readonly #moving = new MovingSlots();
  readonly #durability: Durability | undefined;
  #scheduled = false;
  /** True where all was to end and the server did not answer. */
  #gaveUp = false;

  /**
   * @param prefix checked
   * @throws TypeError or RangeError that names the field and shows the value, of `durability`
   */
  constructor(
    client: RedisClient,
    prefix: string,
    durability: DurabilityOptions | undefined,
    source: ScriptSource,
  ) {
    this.#client = client;
    this.#prefix = prefix;
    this.#source = source;
    this.#gate = new ClientGate(client);
    this.#runner = new ScriptRunner(this.#gate, () => this.#durability?.resent(), nodeOfBy(client));
    this.#durability =
      durability === undefined
        ? undefined
        : new Durability(client, durability, () => this.#schedule());
  }

  /** As of the store, and so is `unreplicated`. */
  get waitMs(): number {
    return this.#durability?.waitMs ?? 0;
  }

  get unreplicated(): number | undefined {
    return this.#durability?.unreplicated;
  }

  consume(policy: Policy, partitionKey: string, cost: number): Promise<Decision> {
    const group = this.groupOf(policy, partitionKey);
    if (policy.algorithm !== 'token-bucket' || this.#batches.get(group) instanceof ChecksBatch) {
      return this.askOne('consume', policy, partitionKey, cost);
    }
    return new Promise((resolve, reject) => {
      this.#joinPlain(group, policy, partitionKey, { cost, resolve, reject, next: undefined });
    });
  }

  claim(claim: Claim): Promise<Grant | undefined> {
    return new Promise((resolve, reject) => {
      this.#add({ what: 'claim', claim, resolve, reject }, claim);
    });
  }

  examine(policy: Policy, key: string, cost: number): Promise<Examination> {
    const charge = { policy, key, cost };
    return new Promise((resolve, reject) => {
      this.#add({ what: 'examine', charges: [charge], resolve, reject }, charge);
    });
  }

  async askOne(
    what: Check['what'],
    policy: Policy,
    key: string,
    cost: number,
    takenAtMs?: number,
  ): Promise<Decision> {
    return (await this.ask(what, [{ policy, key, cost }], takenAtMs))[0] as Decision;
  }

  /** Also while the store closes, on behalf of calls made before. @param charges of one group */
  ask(
    what: Check['what'],
    charges: readonly Charge[],
    takenAtMs?: number,
  ): Promise<readonly Decision[]> {
    return new Promise((resolve, reject) => {
      this.#add({ what, charges, takenAtMs, resolve, reject }, charges[0] as Charge);
    });
  }

  /** On a Cluster the keys of one call share a slot: one hash tag is sure to. */
  groupOf(policy: Policy, partitionKey: string): string {
    if (!this.#client.isCluster) return '';
    const shard = shardOf(policy);
    return shard === undefined
      ? `whole ${partitionKey}`
      : `${shard.index}/${shard.count} ${partitionKey}`;
  }

  /** Waited for by `end`. */
  track<T>(work: Promise<T>): Promise<T> {
    return this.#inFlight.track(work);
  }

  /** Sends what waits, and resolves when all is answered; what has no answer after 1 s fails then. */
  async end(): Promise<void> {
    this.#flush();
    this.#gaveUp ||= !(await this.#inFlight.end(CLOSE_TIMEOUT_MS));
    if (this.#gaveUp) for (const batch of this.#sent) this.#abandon(batch);
  }

  sendHeartbeat(replicaId: string, lifeMs: number): Promise<unknown> {
    const args = [replicaId, lifeMs, ...this.#source.extraArgs()];
    return this.#runner.run(this.#source.scripts.heartbeat, [replicasKey(this.#prefix)], args);
  }

  failure(what: string, error: unknown): RateLimitError {
    return this.#gate.failure(what, error, this.#prefix);
  }

  #add(question: Question, { policy, key }: Pick<Charge, 'policy' | 'key'>): void {
    const group = this.groupOf(policy, key);
    const held = this.#batches.get(group);
    if (held instanceof ChecksBatch && held.add(question)) {
      this.#added(group, held);
      return;
    }
    if (held !== undefined) this.#send(held, group);
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
    if (held !== undefined) this.#send(held, group);
    const batch = new PlainBatch();
    batch.add(policy, partitionKey, check);
    this.#batches.set(group, batch);
    this.#added(group, batch);
  }

  /** A batch is sent when it has grown enough, else at the end of this turn. */
  #added(group: string, batch: PlainBatch | ChecksBatch): void {
    if (batch.isFull) {
      this.#batches.delete(group);
      this.#send(batch, group);
    } else {
      this.#schedule();
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const batches = this.#batches;
    // A cleared map would keep its old table, and batch after batch, reachable for the collector.
    this.#batches = new Map();
    for (const [group, batch] of batches) this.#send(batch, group);
    this.#durability?.send();
  }

  #send(batch: Batch, group: string): void {
    if (this.#gaveUp) this.#abandon(batch);
    else void this.#inFlight.track(this.#run(batch, group));
  }

  #abandon(batch: Batch): void {
    const why = `no answer within ${CLOSE_TIMEOUT_MS} ms of closing`;
    batch.fail(storeFailed('decide', why, 'timeout'));
    this.#sent.delete(batch);
  }

  async #run(batch: Batch, group: string): Promise<void> {
    this.#sent.add(batch);
    const canMove = this.#client.isCluster === true && batch.keyCount > 1;
    try {
      if (canMove && this.#moving.has(group)) return await this.#runApart(batch, group);
      const { keys, args } = batch.call((policy, key) => bucketKey(this.#prefix, policy, key));
      this.sizes.add(batch.size);
      args.push(...this.#source.extraArgs());
      const ticket = this.#durability?.ticket ?? 0;
      const script = this.#source.scripts[batch.script];
      const changed = batch.read(await this.#runner.run(script, keys, args));
      if (changed > 0) await this.#durability?.confirm(changed, ticket);
      batch.tell();
    } catch (error) {
      if (canMove && this.#moving.noticed(group, error)) await this.#runApart(batch, group);
      else batch.fail(this.failure('decide', error));
    } finally {
      this.#sent.delete(batch);
    }
  }

  /**
   * Asks for one bucket at a time: calls of one key are answered while their slot moves. What must
   * be charged together is charged in turn, as in several slots. Never rejects.
   */
  async #runApart(batch: Batch, group: string): Promise<void> {
    const alone: Ask = (what, charges, takenAtMs) =>
      new Promise((resolve, reject) => {
        const one = new ChecksBatch();
        one.add({ what, charges, takenAtMs, resolve, reject });
        void this.#run(one, group);
      });
    const parts = batch.apart();
    await Promise.all(
      parts.map((part) => ('what' in part ? askApart(part, alone) : this.#run(part, group))),
    );
  }
}
