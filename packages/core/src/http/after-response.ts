import type { Decision } from '../decision/decision.js';
import { invalidType, invalidValue, messageOf, show } from '../errors.js';
import type { Keys, Limiter, PerPolicy, PolicyChanges } from '../limiter/limiter.js';
import { warnOnce } from '../warnings.js';
import { checkFunction } from './functions.js';
import type { ResponseOptions } from './options.js';

/** How a response has ended. */
export interface ResponseEnd {
  /** Undefined where the client went away before the response was complete. */
  readonly status: number | undefined;
}

export const REFUND_WHEN = ['failed', 'successful'] as const;
export type RefundWhen = (typeof REFUND_WHEN)[number];

/** What a request was charged. */
export interface Charged {
  readonly keys: Keys;
  readonly cost: PerPolicy<number>;
  readonly policies: PolicyChanges | undefined;
  readonly decision: Decision;
}

/** What is put right when the response has ended: by `refundWhen` and `settle`. */
export class AfterResponse<Request> {
  readonly #limiter: Limiter;
  readonly #options: ResponseOptions<Request>;

  /** @throws TypeError or RangeError that names the option and shows the value */
  constructor(limiter: Limiter, options: ResponseOptions<Request>) {
    const { refundWhen, settle } = options;
    if (refundWhen !== undefined && typeof refundWhen !== 'function') checkRefundWhen(refundWhen);
    if (settle !== undefined) checkFunction('settle', settle, 'the response and the request');
    this.#limiter = limiter;
    this.#options = options;
  }

  /** False where nothing depends on the response. */
  get isNeeded(): boolean {
    return this.#options.refundWhen !== undefined || this.#options.settle !== undefined;
  }

  /**
   * To be called once. There is nobody left to be told of a failure, so it becomes a process warning.
   */
  async run(request: Request, response: ResponseEnd, charged: Charged): Promise<void> {
    try {
      const { keys, cost, policies, decision } = charged;
      if (await this.#isRefunded(response, request)) {
        await this.#limiter.refund(keys, { cost, policies, decision });
        return;
      }
      const trueCost = await this.#options.settle?.(response, request);
      if (trueCost === undefined) return;
      const settled = completed(trueCost, cost, keys);
      await this.#limiter.settle(keys, { estimate: cost, cost: settled, policies, decision });
    } catch (error) {
      warnOnce(
        'RL_AFTER_RESPONSE_FAILED',
        `what a request was charged could not be put right by its response: ${messageOf(error)}`,
      );
    }
  }

  async #isRefunded(response: ResponseEnd, request: Request): Promise<boolean> {
    const { refundWhen } = this.#options;
    if (refundWhen === undefined) return false;
    if (typeof refundWhen === 'string') return isFailed(response) === (refundWhen === 'failed');
    const answer: unknown = await refundWhen(response, request);
    if (typeof answer === 'boolean') return answer;
    throw invalidType('refundWhen', 'a function that returns true or false', answer);
  }
}

/** The true cost by policy, where it is so: of a policy that is left out it is what was charged. */
function completed(
  trueCost: PerPolicy<number>,
  cost: PerPolicy<number>,
  keys: Keys,
): PerPolicy<number> {
  if (typeof trueCost !== 'object' || trueCost === null) return trueCost;
  const charged = (name: string) => (typeof cost === 'object' ? cost[name] : cost);
  const known = (name: string) => (trueCost[name] === undefined ? charged(name) : trueCost[name]);
  const all = Object.keys(keys).map((name) => [name, known(name)]);
  return { ...trueCost, ...Object.fromEntries(all) };
}

function isFailed({ status }: ResponseEnd): boolean {
  return status === undefined || status >= 400;
}

function checkRefundWhen(value: unknown): void {
  if (REFUND_WHEN.some((choice) => choice === value)) return;
  const refuse = typeof value === 'string' ? invalidValue : invalidType;
  const choices = REFUND_WHEN.map(show).join(', ');
  throw refuse('refundWhen', `one of ${choices}, or a function of the response`, value);
}
