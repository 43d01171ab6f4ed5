import { checkInteger } from '../../arith/integers.js';
import { checkOptionNames, invalidType, messageOf, show } from '../../errors.js';
import { outsideRequests } from '../../time/background.js';
import { type Clock, monotonicClock } from '../../time/clock.js';
import { warn } from '../../warnings.js';
import type { RedisClient } from './client.js';
import { waitHint } from './permissions.js';
import { faultOf, NotConnected } from './store-fault.js';

/** How many Redis replicas are to have a decision before it is told. */
export interface DurabilityOptions {
  /**
   * How many Redis replicas of the primary, 1 to 16. More than it has are never there: then each
   * decision is told all the same, and is counted.
   */
  replicas: number;
  /**
   * How long one WAIT for them may take, in ms, 1 to 1000. Default 5. A decision is held for two at
   * most, the one that is under way and its own: so `waitMs` of the store is twice as long.
   */
  timeoutMs?: number | undefined;
}

const MAX_REPLICAS = 16;
const TIMEOUT_MS = 5;
const MAX_TIMEOUT_MS = 1000;

/**
 * Once a WAIT was not confirmed nothing is waited for during so many times its timeout, twice as long
 * after each further one in a row, up to the most: each blocks the connection, and all calls behind
 * it, for its whole time.
 */
const PAUSE_TIMES = 10;
const LONGEST_PAUSE_MS = 1000;

/** Connections that answered, by their client, and the sockets they answered on. */
type Connections = ReadonlyMap<RedisClient, unknown>;

/** One WAIT on each connection, and the answers that are told when it has ended. */
class Wait {
  readonly connections: Connections;
  readonly ended: Promise<void>;
  answers = 0;
  resolve!: () => void;
  reject!: (error: unknown) => void;

  constructor(connections: Connections) {
    this.connections = connections;
    this.ended = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/**
 * Holds answers until enough Redis replicas have what they tell of, by WAIT, which speaks for all that
 * its connection wrote before. It goes out at the end of a turn, behind what that turn sent, for all
 * answers that came meanwhile; one at a time, since it blocks its connection.
 *
 * Where it is not confirmed in time the answers are told all the same, and counted, and nothing is
 * waited for during a pause, of a second at most. Where the connection ends while one waits, or the server is a
 * primary no more, the answer fails as if it had never come: what it tells of is likely lost.
 */
export class Durability {
  /** The longest that an answer is held. */
  readonly waitMs: number;
  readonly #client: RedisClient;
  readonly #replicas: number;
  readonly #timeoutMs: number;
  readonly #schedule: () => void;
  readonly #clock: Clock;
  #unreplicated = 0;
  #next: Wait | undefined;
  #current: Wait | undefined;
  /** How many WAITs were sent, and how many when something was sent again. */
  #sent = 0;
  #sentAtResend = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** WAITs in a row that were not confirmed. */
  #missed = 0;
  #hasWarned = false;

  /**
   * @param schedule has `send` called at the end of this turn
   * @throws TypeError or RangeError that names the field and shows the value
   */
  constructor(
    client: RedisClient,
    options: DurabilityOptions,
    schedule: () => void,
    clock: Clock = monotonicClock,
  ) {
    if (typeof options !== 'object' || options === null || Array.isArray(options)) {
      throw invalidType('durability', 'an object such as { replicas: 1 }', options);
    }
    checkOptionNames('durability', options, ['replicas', 'timeoutMs']);
    const { replicas, timeoutMs = TIMEOUT_MS } = options;
    this.#replicas = checkInteger('durability.replicas', replicas, 1, MAX_REPLICAS);
    this.#timeoutMs = checkInteger('durability.timeoutMs', timeoutMs, 1, MAX_TIMEOUT_MS);
    const method = client.isCluster ? 'nodes' : 'wait';
    if (typeof client[method] !== 'function') {
      throw invalidType('client', `one with ${method}(), as durability is asked for`, client);
    }
    this.waitMs = 2 * this.#timeoutMs;
    this.#client = client;
    this.#schedule = schedule;
    this.#clock = clock;
  }

  /** Answers told though fewer Redis replicas had what they tell of. It only rises. */
  get unreplicated(): number {
    return this.#unreplicated;
  }

  /** Taken when something is sent, for `confirm`. */
  get ticket(): number {
    return this.#sent;
  }

  /** Something goes out once more, behind a WAIT that may have been sent behind it. */
  resent(): void {
    this.#sentAtResend = this.#sent;
  }

  /**
   * Resolves when the answers to what was sent may be told. Rejects where they must not.
   * @param answers that have come: how many changed a bucket
   * @param ticket as of when it was sent
   */
  confirm(answers: number, ticket: number): Promise<void> {
    if (this.#isPaused) {
      this.#unreplicated += answers;
      return Promise.resolve();
    }
    const wait = this.#covers(ticket) ?? this.#queued();
    wait.answers += answers;
    return wait.ended;
  }

  /** Sends a WAIT where one is wanted and none is under way. */
  send(): void {
    const wait = this.#next;
    if (wait === undefined || this.#current !== undefined) return;
    this.#next = undefined;
    if (this.#isPaused) {
      this.#unconfirmed(wait);
      return;
    }
    this.#current = wait;
    this.#sent++;
    // What has arrived during a stall of the event loop is read before it is given up.
    const giveUp = () => setImmediate(() => this.#end(wait, () => this.#tooLate(wait)));
    const timer = outsideRequests(() => setTimeout(giveUp, this.#timeoutMs).unref());
    this.#ask(wait).then(
      (fewest) => this.#end(wait, () => this.#answered(wait, fewest), timer),
      (error) => this.#end(wait, () => this.#failed(wait, error), timer),
    );
  }

  get #isPaused(): boolean {
    return this.#clock.nowMs() < this.#pausedUntilMs;
  }

  /** The WAIT under way where it was sent behind this. On a Cluster a redirect may have come between. */
  #covers(ticket: number): Wait | undefined {
    const isBehind = this.#sent > ticket && this.#sent > this.#sentAtResend;
    return isBehind && !this.#client.isCluster ? this.#current : undefined;
  }

  #queued(): Wait {
    if (this.#next === undefined) {
      this.#next = new Wait(this.#connections());
      if (this.#current === undefined) this.#schedule();
    }
    return this.#next;
  }

  /** What an answer may have come over: on a Cluster, any primary's. */
  #connections(): Connections {
    const { isCluster } = this.#client;
    const clients = isCluster ? (this.#client.nodes?.('master') ?? []) : [this.#client];
    const isReady = ({ status = 'ready' }: RedisClient) => status === 'ready';
    return new Map(clients.filter(isReady).map((client) => [client, client.stream]));
  }

  /** @returns the fewest Redis replicas that one of the connections found */
  async #ask({ connections }: Wait): Promise<number> {
    const all = new Map([...this.#connections(), ...connections]);
    if (all.size === 0) throw lostConnection();
    const counts = [...all].map(async ([client, stream]) => {
      const count = await client.wait?.(this.#replicas, this.#timeoutMs);
      // A client may have sent it once more, over another connection: there it speaks for nothing.
      if (client.stream !== stream) throw lostConnection();
      return Number(count);
    });
    return Math.min(...(await Promise.all(counts)));
  }

  #end(wait: Wait, how: () => void, timer?: NodeJS.Timeout): void {
    clearTimeout(timer);
    if (this.#current !== wait) return;
    this.#current = undefined;
    how();
    if (this.#next !== undefined) this.#schedule();
  }

  #answered(wait: Wait, fewest: number): void {
    if (fewest >= this.#replicas) {
      this.#missed = 0;
      wait.resolve();
    } else this.#pause(wait, `${fewest} had it after ${this.#timeoutMs} ms`);
  }

  #failed(wait: Wait, error: unknown): void {
    if (['connection', 'read-only'].includes(faultOf(error))) wait.reject(error);
    else this.#pause(wait, `WAIT failed: ${messageOf(error)}${waitHint(error)}`);
  }

  #tooLate(wait: Wait): void {
    const isLost = [...wait.connections].some(
      ([{ stream, status = 'ready' }, before]) => stream !== before || status !== 'ready',
    );
    if (isLost) wait.reject(lostConnection());
    else this.#pause(wait, `WAIT had no answer within ${this.#timeoutMs} ms`);
  }

  #pause(wait: Wait, why: string): void {
    const pauseMs = PAUSE_TIMES * this.#timeoutMs * 2 ** Math.min(this.#missed++, 10);
    this.#pausedUntilMs = this.#clock.nowMs() + Math.min(LONGEST_PAUSE_MS, pauseMs);
    this.#unconfirmed(wait);
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const asked = `durability asks for ${show(this.#replicas)} Redis replicas`;
    const more =
      'decisions are told all the same, and those are counted in limiter.health().unreplicated: a failover may lose them; see docs/failure-modes.md';
    warn('RL_NOT_REPLICATED', `${asked}, and ${why}; ${more}`);
  }

  #unconfirmed(wait: Wait): void {
    this.#unreplicated += wait.answers;
    wait.resolve();
  }
}

function lostConnection(): NotConnected {
  return new NotConnected('the client lost its connection before enough Redis replicas had this');
}
