import { type Policy, type PolicyOptions, parsePolicy } from '../../src/policy/policy.js';
import { Journal, type Moment } from './journal.js';
import type { VirtualTime } from './virtual-time.js';

/** The policies of a fleet; not all calls are under the second. */
export type Name = 'p' | 'q';

export type Sight =
  | 'by the store'
  | 'by a lease'
  | 'denied'
  | 'refunds'
  | 'refunds to a lease'
  | 'crashes'
  | 'lost'
  | 'refused';

/** What is written down of a fleet. */
export class FleetRecord {
  readonly policies: ReadonlyMap<string, Policy>;
  readonly journal: Journal = new Journal();
  /** What went against a rule; empty: all is well. */
  readonly faults: string[] = [];
  /** How often things happened that a fleet is made to see. */
  readonly seen: Record<Sight, number> = {
    'by the store': 0,
    'by a lease': 0,
    denied: 0,
    refunds: 0,
    'refunds to a lease': 0,
    crashes: 0,
    lost: 0,
    refused: 0,
  };
  readonly #time: VirtualTime;

  constructor(time: VirtualTime, policies: { readonly [N in Name]: PolicyOptions }) {
    this.#time = time;
    this.policies = new Map([
      ['p', parsePolicy('p', policies.p, '')],
      ['q', parsePolicy('q', policies.q, '')],
    ]);
  }

  /** The present one. */
  moment(): Moment {
    return this.journal.moment(this.#time.nowMs);
  }
}
