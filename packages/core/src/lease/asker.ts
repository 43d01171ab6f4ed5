import { randomInt } from 'node:crypto';
import { isStoreFailure } from '../errors.js';
import type { LeaseCounts } from '../metrics/lease-counts.js';
import type { StoreWatcher } from '../metrics/store-watcher.js';
import type { Claim, Grant, Store } from '../store/store.js';
import { type Clock, preciseMs } from '../time/clock.js';
import type { Ask, LeasedBucket } from './leased-bucket.js';
import type { StoreWatch } from './store-watch.js';

/**
 * Asks the store what leased buckets want to know. All that one turn of the event loop wants to ask
 * goes out at its end; one question a bucket is under way at a time.
 */
export class Asker {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #watch: StoreWatch;
  readonly #watcher: StoreWatcher;
  readonly #counts: LeaseCounts;
  readonly #onFlush: (nowMs: number) => void;
  /** Differs between all that hold leases of a bucket. */
  readonly #holder = randomInt(2 ** 48 - 1);
  #turn = 0;
  /** Those that want to ask at the end of this turn. */
  #listed: LeasedBucket[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  #closed = false;

  /**
   * @param watcher is told how long claims take that no call waits for
   * @param onFlush called when a turn's questions have gone out
   */
  constructor(
    store: Store,
    clock: Clock,
    watch: StoreWatch,
    watcher: StoreWatcher,
    counts: LeaseCounts,
    onFlush: (nowMs: number) => void,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#watch = watch;
    this.#watcher = watcher;
    this.#counts = counts;
    this.#onFlush = onFlush;
  }

  /** Has a bucket ask at the end of this turn. */
  list(bucket: LeasedBucket): void {
    if (bucket.listed) return;
    bucket.listed = true;
    if (this.#listed.push(bucket) === 1) setImmediate(() => this.#flush());
  }

  /** Tells the store what was spent, ahead of what is asked next in this turn. */
  tell(bucket: LeasedBucket, nowMs: number): void {
    const claim = this.#watch.mayAsk(bucket.key) ? bucket.tell(nowMs) : undefined;
    // Where it is not heard, the store writes off what it was to be told of.
    if (claim === undefined) return;
    const returned = returnedBy(claim);
    this.#askFor(bucket, claim).then(
      () => {
        this.#counts.returned += returned;
      },
      (error) => {
        this.#counts.writtenOff += returned;
        this.#watch.failed(error, { ...claim, key: bucket.key });
      },
    );
  }

  /** Returns what is over. @param all also what could be spent yet */
  giveBack(bucket: LeasedBucket, all: boolean, nowMs: number): void {
    if (this.#watch.mayAsk(bucket.key)) this.#send(bucket, bucket.giveBack(all, nowMs));
  }

  /**
   * Asks what is listed, returns what `buckets` hold, and resolves when all is answered. Calls that
   * wait are answered first.
   */
  async close(buckets: Iterable<LeasedBucket>): Promise<void> {
    this.#closed = true;
    this.#flush();
    const nowMs = this.#clock.nowMs();
    for (const bucket of buckets) this.giveBack(bucket, true, nowMs);
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  #flush(): void {
    const nowMs = this.#clock.nowMs();
    const listed = this.#listed;
    this.#listed = [];
    for (const bucket of listed) {
      bucket.listed = false;
      if (this.#watch.mayAsk(bucket.key)) this.#send(bucket, bucket.ask(nowMs));
      else if (bucket.isWaiting) bucket.refuse(this.#watch.refusal(bucket.key));
    }
    this.#onFlush(nowMs);
  }

  /** @param ask undefined: there is nothing to ask */
  #send(bucket: LeasedBucket, ask: Ask | undefined): void {
    if (ask === undefined) return;
    const { reports, extra } = ask.claim;
    // Nothing to claim or to tell: what the store does for calls that are not leased is enough.
    const plain = reports.length === 0 && extra === 0;
    const work = plain ? this.#askEach(bucket, ask) : this.#claim(bucket, ask);
    this.#inFlight.add(work);
    void work.finally(() => {
      this.#inFlight.delete(work);
      if (this.#closed) this.#finish(bucket);
      else if (bucket.isWaiting) this.list(bucket);
    });
  }

  /** After `close`: calls that were made before it are answered, then what is left is returned. */
  #finish(bucket: LeasedBucket): void {
    if (!this.#watch.mayAsk(bucket.key)) return;
    const nowMs = this.#clock.nowMs();
    this.#send(bucket, bucket.isWaiting ? bucket.ask(nowMs, false) : bucket.giveBack(true, nowMs));
  }

  async #claim(bucket: LeasedBucket, ask: Ask): Promise<void> {
    const returned = returnedBy(ask.claim);
    const sinceMs = preciseMs();
    try {
      const grant = await this.#askFor(bucket, ask.claim);
      if (ask.waiters.length === 0) this.#watcher.took(preciseMs() - sinceMs);
      if (grant !== undefined) this.#watch.left(ask.claim.policy, bucket.key, grant.left);
      const kept = bucket.answer(ask, grant, this.#clock.nowMs());
      this.#count(returned, grant, kept);
    } catch (error) {
      this.#counts.writtenOff += returned;
      if (ask.waiters.length === 0) {
        const fault = isStoreFailure(error) ? error.fault : undefined;
        this.#watcher.took(preciseMs() - sinceMs, fault ?? 'other');
        this.#watch.failed(error, { ...ask.claim, key: bucket.key });
      }
      bucket.failed(ask, error, this.#clock.nowMs());
    }
  }

  /** @param grant undefined: the store had heard of the claim before, and said so only now */
  #count(returned: number, grant: Grant | undefined, kept: number): void {
    this.#counts.returned += returned;
    if (grant === undefined) return;
    this.#counts.granted += grant.permits;
    this.#counts.writtenOff += grant.permits - kept;
  }

  async #askFor({ key }: LeasedBucket, claim: Ask['claim']): Promise<Grant | undefined> {
    this.#counts.claims++;
    const numbered: Claim = { ...claim, key, holder: this.#holder, turn: ++this.#turn };
    return this.#store.claim(numbered);
  }

  async #askEach(bucket: LeasedBucket, { waiters, sentAtMs }: Ask): Promise<void> {
    const asked = waiters.map(async (waiter) => {
      const { policy, cost, reject } = waiter;
      try {
        const decision = await this.#store.consume(policy, bucket.key, cost);
        this.#watch.left(policy, bucket.key, decision);
        bucket.decided(waiter, decision, sentAtMs, this.#clock.nowMs());
      } catch (error) {
        reject(error);
      }
    });
    await Promise.all(asked);
    bucket.answered(sentAtMs);
  }
}

function returnedBy({ reports }: Ask['claim']): number {
  return reports.reduce((sum, { returned }) => sum + returned, 0);
}
