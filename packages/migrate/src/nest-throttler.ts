import type { Decision, PolicyOptions } from '@rl/core';
import { combineKeys } from '@rl/core';
import { checkInteger, invalidType } from '@rl/core/http';
import { BlockedKeys } from './blocked-keys.js';
import { countOf } from './count.js';
import {
  type Absent,
  checkForm,
  checkPolicyName,
  type GivenPolicy,
  givenSource,
  isGiven,
  type PolicyInPlace,
  perCallSource,
  type Source,
} from './options.js';
import { resetOrWarn } from './outage.js';
import { checkKey, checkLimit, PerCallPolicy } from './per-call.js';

/** A policy in place. Its limit and window come with each call, as `limit` and `ttl`. */
export interface NestPolicyInPlace extends PolicyInPlace, Absent<NestGivenPolicy> {}

/** A policy of a limiter, whose limit and window are overruled by those of each call. */
export interface NestGivenPolicy extends GivenPolicy {
  /**
   * Name of another policy there, for clients that have to wait for `blockDuration`: of limit 1 and
   * `"fixed-window"`. Needed unless `blockDuration` is 0.
   */
  blockPolicy?: string | undefined;
}

export type NestThrottlerStorageOptions =
  | NestPolicyInPlace
  | (NestGivenPolicy & Absent<PolicyInPlace>);

/** What the guard is told. Times are whole seconds, rounded up. */
export interface ThrottlerRecord {
  totalHits: number;
  timeToExpire: number;
  isBlocked: boolean;
  /** 0 where it is not blocked. */
  timeToBlockExpire: number;
}

/** A `ThrottlerStorage` of @nestjs/throttler. */
export interface NestThrottlerStorage {
  /**
   * Decides and charges a request. Rejects where an argument cannot be used; not where the store is
   * away.
   *
   * @param key of the route and the client, as the guard makes it
   * @param ttl the policy's window in milliseconds
   * @param limit permits per window; 0 denies all, Infinity allows all
   * @param blockDuration for how long a client is denied once it was denied, in milliseconds; not
   * above 0: until its permits come back
   * @param throttlerName keys of two throttlers are apart
   */
  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord>;
  /** Called by Nest when the app closes: ends the limiter, where that was made here. */
  onApplicationShutdown(): Promise<void>;
}

/** Has one permit, which is spent where a client has to wait, for as long as it has to. */
const BLOCK: PolicyOptions = { limit: 1, window: '1m', algorithm: 'fixed-window' };

class LimiterStorage implements NestThrottlerStorage {
  readonly #source: Source;
  readonly #policy: PerCallPolicy;
  readonly #blockName: string | undefined;
  readonly #blockPolicy: PerCallPolicy;
  readonly #blocked: BlockedKeys;

  constructor(options: NestThrottlerStorageOptions) {
    checkForm(options, [], ['blockPolicy']);
    if (isGiven(options)) {
      const { limiter, blockPolicy } = options as NestGivenPolicy;
      this.#source = givenSource(options);
      if (blockPolicy !== undefined) checkPolicyName('blockPolicy', limiter, blockPolicy);
      this.#blockName = blockPolicy;
      this.#policy = new PerCallPolicy(this.#source);
    } else {
      const beside = (name: string) => ({ [`${name}.block`]: BLOCK });
      this.#source = perCallSource(options, 'nest-throttler', beside);
      this.#blockName = `${this.#source.policy}.block`;
      this.#policy = new PerCallPolicy(this.#source, options);
    }
    this.#blockPolicy = new PerCallPolicy({ ...this.#source, policy: this.#blockName ?? '' });
    this.#blocked = new BlockedKeys(options.store?.clock);
  }

  async increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord> {
    checkInteger('ttl', ttl, 1);
    checkLimit('limit', limit);
    const blockMs = blockDuration > 0 ? checkInteger('blockDuration', blockDuration, 1) : 0;
    const own = combineKeys(checkKey(key), throttlerName);
    if (limit === Number.POSITIVE_INFINITY) return allowed(1, ttl);
    if (limit === 0) return denied(limit, blockMs || ttl);
    if (blockMs > 0) return this.#orBlock(own, ttl, limit, blockMs);
    const { allowed: isAllowed, used, waitMs } = await this.#policy.consume(own, limit, ttl);
    return isAllowed ? allowed(used, waitMs) : denied(limit, waitMs);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#source.close();
  }

  /** As the policy decides; a client that it denies is denied from then on for `blockMs`. */
  async #orBlock(
    key: string,
    windowMs: number,
    limit: number,
    blockMs: number,
  ): Promise<ThrottlerRecord> {
    const block = this.#blockName ?? missingBlockPolicy(blockMs);
    const leftMs = this.#blocked.leftMs(key);
    if (leftMs > 0) return denied(limit, leftMs);
    const { limiter, policy } = this.#source;
    const change = this.#policy.changeOf(limit, windowMs);
    const keys = { [policy]: key, [block]: key };
    const options = {
      cost: { [policy]: 1, [block]: 0 },
      policies: { [policy]: change, [block]: this.#blockPolicy.changeOf(1, blockMs) },
    };
    const known = limiter.tryConsume(keys, options);
    const decision = known ?? (await limiter.consume(keys, options));
    const looked = decision.each?.find((one) => one.policy === block);
    const charged = decision.each?.find((one) => one.policy === policy) ?? decision;
    if (looked !== undefined && isSpent(looked)) {
      // What the call was charged, in a window that began after the block did, did not happen.
      const own = { decision, policies: { [policy]: change } };
      if (charged.allowed) await limiter.refund({ [policy]: key }, own);
      // A store that answers at once is asked again, by its own clock.
      if (known === undefined) this.#blocked.note(key, looked.resetAfterMs);
      return denied(limit, looked.resetAfterMs);
    }
    const { allowed: isAllowed, used, waitMs } = countOf(charged, limiter);
    if (isAllowed) return allowed(used, waitMs);
    // What a replica denies by its share alone blocks nobody: the others have shares, too.
    if (charged.fallback !== undefined) return denied(limit, waitMs);
    const begun = await this.#blockPolicy.consume(key, 1, blockMs);
    if (charged.resetAfterMs > begun.waitMs) {
      // A client that has waited has all its permits.
      await resetOrWarn(this, () => limiter.reset({ [policy]: key }));
    }
    if (known === undefined) this.#blocked.note(key, begun.waitMs);
    return denied(limit, begun.waitMs);
  }
}

function missingBlockPolicy(blockMs: number): never {
  const expected = `the name of a policy of limit 1 and "fixed-window" where a blockDuration is in force (it is ${blockMs} ms; left out, it is the ttl), or blockDuration 0`;
  throw invalidType('blockPolicy', expected, undefined);
}

/** True where a client has to wait; where all is to be allowed in an outage, none has. */
function isSpent({ remaining, fallback }: Decision): boolean {
  return remaining === 0 && fallback?.mode !== 'open' && fallback?.mode !== 'closed';
}

function allowed(totalHits: number, expiresMs: number): ThrottlerRecord {
  const timeToExpire = Math.ceil(expiresMs / 1000);
  return { totalHits, timeToExpire, isBlocked: false, timeToBlockExpire: 0 };
}

function denied(limit: number, blockedMs: number): ThrottlerRecord {
  const seconds = Math.ceil(blockedMs / 1000);
  return {
    totalHits: limit + 1,
    timeToExpire: seconds,
    isBlocked: true,
    timeToBlockExpire: seconds,
  };
}

/**
 * A storage for @nestjs/throttler: `ThrottlerModule.forRoot({ throttlers, storage })`. Limits, ttls
 * and block durations are those of the module and of `@Throttle`, and may differ by route.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function toNestThrottlerStorage(
  options: NestThrottlerStorageOptions = {},
): NestThrottlerStorage {
  return new LimiterStorage(options);
}
