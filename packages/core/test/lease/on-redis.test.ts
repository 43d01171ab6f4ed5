import { type FaultProxy, startFaultProxy } from '@rl/testkit';
import { Redis, type RedisOptions } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import { type PolicyOptions, parsePolicy } from '../../src/policy/policy.js';
import { redisStore } from '../../src/store/redis/redis-store.js';
import type { Claim, Grant } from '../../src/store/store.js';
import { outAt, readLeased } from '../support/leased-value.js';
import { type Admission, worstOvershoot } from '../support/overshoot.js';
import { PATIENT } from '../support/patient.js';
import { recorded } from '../support/recorded.js';
import { openOwn } from '../support/redis.js';
import { runFixture } from '../support/run-fixture.js';
import { Delegate } from '../testing/delegate.js';

const BURST = 400;
const PER_MS = 2;
/** Refilled so slowly that nothing comes back in a test. */
const SLOW = { limit: BURST, window: '365d', lease: { ttl: '1m' } };
const QUOTA = { limit: 2000, window: '1s', burst: BURST, lease: { ttl: '200ms', pace: '10ms' } };

/** What a client does with commands whose answers were lost. */
type Resending = Pick<RedisOptions, 'autoResendUnfulfilledCommands' | 'maxRetriesPerRequest'>;

let own: Awaited<ReturnType<typeof openOwn>>;
beforeAll(async () => {
  own = await openOwn();
});
afterAll(() => own.close());

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A store that notes what became of each claim. */
class Noting extends Delegate {
  readonly answers: { claim: Claim; grant: Grant | undefined }[] = [];

  override async claim(claim: Claim): Promise<Grant | undefined> {
    const grant = await this.inner.claim(claim);
    this.answers.push({ claim, grant });
    return grant;
  }
}

/** One replica whose way to Redis goes through a proxy, and what it admitted. */
class Replica {
  readonly proxy: FaultProxy;
  readonly store: Noting;
  readonly limiter: Limiter<'quota'>;
  readonly admissions: Admission[] = [];
  /** Refunds that Redis did not answer. */
  readonly unanswered: Decision[] = [];
  readonly #client: Redis;
  readonly #underWay: () => number;
  readonly #key: string;

  constructor(proxy: FaultProxy, key: string, options: Resending, quota: PolicyOptions = QUOTA) {
    this.proxy = proxy;
    this.#key = key;
    this.#client = new Redis({ ...proxy.connection, retryStrategy: () => 5, ...options });
    const { client, underWay } = recorded(this.#client);
    this.#underWay = underWay;
    this.store = new Noting(redisStore(client));
    // What Redis admits is counted here, and nothing besides.
    const fallback = { ...PATIENT, mode: 'closed' } as const;
    this.limiter = createLimiter({ policies: { quota }, store: this.store, fallback });
  }

  /** Asks as an app does; resolves when there is an answer. */
  async consume(cost = 1): Promise<void> {
    const fromMs = Date.now();
    const decision = this.limiter.tryConsume({ quota: this.#key }, { cost });
    if (decision !== undefined) return this.#note(decision, cost, fromMs);
    this.#note(await this.limiter.consume({ quota: this.#key }, { cost }), cost, fromMs);
  }

  /** Spends what it holds, until it has to ask. @returns how many permits that were */
  spendAll(): number {
    const before = this.admissions.length;
    for (;;) {
      const fromMs = Date.now();
      const decision = this.limiter.tryConsume({ quota: this.#key });
      if (decision?.allowed !== true) return this.admissions.length - before;
      this.#note(decision, 1, fromMs);
    }
  }

  /** Has the store told of all that was spent: what is out then is held, or lost. */
  async tellAll(): Promise<void> {
    await this.idle();
    await this.tell();
    await this.idle();
  }

  /** A refund goes behind what there is to tell, also one of nothing. */
  async tell(): Promise<void> {
    const decision = await this.limiter.refund({ quota: this.#key }, { cost: 0 });
    if (decision.origin === 'fallback') this.unanswered.push(decision);
  }

  /** Until nothing is under way. */
  async idle(): Promise<void> {
    for (let turns = 0; turns < 3; turns++) {
      await aTurn();
      if (this.#underWay() > 0) turns = -1;
    }
  }

  async close(): Promise<void> {
    await this.limiter.close();
    this.#client.disconnect();
    await this.proxy.close();
  }

  #note({ allowed, origin, decidedAtMs }: Decision, permits: number, fromMs: number): void {
    if (!allowed) return;
    const ofStore = origin === 'store';
    const [from, to] = ofStore ? [decidedAtMs, decidedAtMs] : [fromMs, Date.now()];
    this.admissions.push({ fromMs: from, toMs: to, permits });
  }
}

/** A claim of one bucket that tells something; see checks.lua for its numbers. */
const TELLING = /\[1(,\d+){7},1,6,1,\d+,\d+,[1-9]/;

const leasedOf = async (key: string) =>
  readLeased(await own.client.getBuffer(`rl:{${key}}:quota:tb1`));

/** A replica that holds permits of `key`. */
async function holding(
  key: string,
  options: Resending = {},
  quota: PolicyOptions = QUOTA,
): Promise<Replica> {
  const replica = new Replica(await startFaultProxy(own.server), key, options, quota);
  while (outAt(await leasedOf(key), Date.now()) === 0) {
    await Promise.all(Array.from({ length: 20 }, () => replica.consume()));
  }
  return replica;
}

describe.each<[string, Resending, boolean]>([
  ['sends commands again after a lost connection', {}, true],
  [
    'does not send them again',
    { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 },
    false,
  ],
])('with a client that %s', (name, options, resends) => {
  it('what was told in a claim whose answer is lost is not told again', async () => {
    const key = `told-${name.replaceAll(' ', '-')}`;
    const replica = await holding(key, options, SLOW);
    await replica.idle();
    const before = outAt(await leasedOf(key), Date.now());
    for (let i = 0; i < 3; i++) await replica.consume();
    // Nothing is left to grant: what is out changes by what is told alone.
    const { lease, ...plain } = SLOW;
    const policy = parsePolicy('quota', plain, '');
    const { remaining } = await own.store.consume(policy, key, 0);
    await own.store.consume(policy, key, remaining);
    const lost = replica.proxy.cutBeforeReply((bytes) => TELLING.test(bytes.toString('latin1')));
    await replica.tell();
    await lost;
    await replica.tellAll();
    expect(outAt(await leasedOf(key), Date.now())).toBe(before - 3);
    expect(replica.spendAll()).toBe(before - 3);
    expect(replica.unanswered).toHaveLength(resends ? 0 : 1);
    await replica.close();
  });

  it('20 cuts between decision and answer, under load: nothing counts twice', {
    timeout: 60_000,
  }, async () => {
    const key = name.replaceAll(' ', '-');
    const replica = new Replica(await startFaultProxy(own.server), key, options);
    const calls: Promise<void>[] = [];
    let held = 0;
    for (let cut = 1; cut <= 20; cut++) {
      const lost = replica.proxy.cutBeforeReply((bytes) => TELLING.test(bytes.toString('latin1')));
      let isLost = false;
      void lost.finally(() => {
        isLost = true;
      });
      while (!isLost) {
        for (let i = 0; i < 10; i++) calls.push(replica.consume());
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await lost;
      // None hangs: each is answered, or denied where the client gives it up.
      await Promise.all(calls);
      await replica.tellAll();
      const value = await leasedOf(key);
      const nowMs = Date.now();
      const spent = replica.spendAll();
      expect(spent).toBeLessThanOrEqual(outAt(value, nowMs));
      held += spent;
    }
    expect(held).toBeGreaterThan(0);
    expect(replica.proxy.counters.cuts).toBe(20);
    expect(worstOvershoot(replica.admissions, BURST, PER_MS)).toBeLessThanOrEqual(0);
    const unheard = replica.store.answers.filter(({ grant }) => grant === undefined);
    expect(unheard.length > 0).toBe(resends);
    for (const { claim } of unheard) expect(claim.reports.length).toBeGreaterThan(0);
    if (resends) expect(replica.unanswered).toEqual([]);
    await replica.close();
  });
});

describe('close', () => {
  it('returns what is not spent', async () => {
    const replica = await holding('returned');
    await replica.limiter.close();
    const { claim } = replica.store.answers.at(-1) as { claim: Claim };
    expect(claim).toMatchObject({ costs: [], extra: 0 });
    expect(claim.reports.some(({ returned }) => returned > 0)).toBe(true);
    expect(outAt(await leasedOf('returned'), Date.now())).toBe(0);
    await replica.close();
  });

  it('does not wait for a Redis that does not answer', async () => {
    const replica = await holding('silent');
    replica.proxy.blackhole();
    await replica.limiter.close();
    await replica.close();
  });

  it('answers calls that waited for another to be answered', async () => {
    const replica = new Replica(await startFaultProxy(own.server), 'waiting', {});
    const before = replica.consume();
    await aTurn();
    const behind = replica.consume(BURST / 2);
    await replica.limiter.close();
    await Promise.all([before, behind]);
    expect(replica.admissions.map(({ permits }) => permits)).toEqual([1, BURST / 2]);
    await replica.close();
  });
});

it('a process that holds leases and has ended its connection ends by itself', async () => {
  const { held, code } = await runFixture<{ held: number; code: number }>('exit-with-leases.mjs', [
    own.server.url,
  ]);
  expect(held).toBeGreaterThan(0);
  expect(code).toBe(0);
});
