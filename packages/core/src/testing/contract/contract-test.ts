import type { Policy } from '../../policy/policy.js';
import {
  ALGORITHMS,
  type Algorithm,
  type PolicyOptions,
  parsePolicy,
} from '../../policy/policy.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../../time/clock.js';
import { ManualClock } from '../manual-clock.js';
import { Subject } from './subject.js';

/** A store that was opened for one test. */
export interface OpenedStore {
  readonly store: Store;
  /** Called once, when the test is over; the store may be closed already. */
  close(): Promise<void>;
}

/** Opens a store that holds no bucket and whose time is `clock`'s. Called for each test. */
export type OpenStore = (clock: Clock) => Promise<OpenedStore>;

/** One behaviour of the contract. */
export interface ContractTest {
  /** Unique among them. */
  readonly name: string;
  /** Resolves where the store behaves so; rejects with an error that says at which step it did not. */
  run(): Promise<void>;
}

/** A behaviour, before it has a store. */
export interface Behaviour {
  readonly name: string;
  readonly check: (subject: Subject) => Promise<void>;
}

/** The beginning of a day, so that aligned windows begin with it. */
export const START_MS = 1_699_920_000_000;

/** A policy for one test. Two of one name are one policy whose values were changed. */
export function policyOf(options: PolicyOptions, name = 'contract'): Policy {
  return parsePolicy(name, options, '');
}

/** A behaviour that every algorithm has, once for each. */
export function forEachAlgorithm(
  name: string,
  check: (subject: Subject, algorithm: Algorithm) => Promise<void>,
): Behaviour[] {
  return ALGORITHMS.map((algorithm) => ({
    name: `${algorithm}: ${name}`,
    check: (subject) => check(subject, algorithm),
  }));
}

/** A behaviour as a test of the stores that `open` opens, each of its own. */
export function testOf({ name, check }: Behaviour, open: OpenStore): ContractTest {
  return {
    name,
    run: async () => {
      const clock = new ManualClock(START_MS);
      const { store, close } = await open(clock);
      try {
        await check(new Subject(store, clock));
      } catch (error) {
        // What failed first is told; a store at fault may well fail to close, too.
        await close().catch(() => undefined);
        throw error;
      }
      await close();
    },
  };
}
