import { APART_BEHAVIOURS } from './behaviours-apart.js';
import { AT_ONCE_BEHAVIOURS } from './behaviours-at-once.js';
import { CLOSE_BEHAVIOURS } from './behaviours-close.js';
import { CORRECTION_BEHAVIOURS } from './behaviours-corrections.js';
import { DENIED_BEHAVIOURS } from './behaviours-denied.js';
import { EXAMINE_BEHAVIOURS } from './behaviours-examine.js';
import { LEASE_BEHAVIOURS } from './behaviours-leases.js';
import { TOGETHER_BEHAVIOURS } from './behaviours-together.js';
import { type ContractTest, type OpenStore, testOf } from './contract-test.js';
import { TABLE_BEHAVIOURS } from './replay.js';

/**
 * The contract of a store as tests for any runner: a store that passes all of them decides as ours
 * do, to the digit.
 *
 * ```ts
 * for (const { name, run } of storeContract(open)) test(name, run);
 * ```
 *
 * They ask nothing of time but the clock that is handed to `open`, which they move, also back. They
 * do not show that a bucket which is full again leaves no trace, nor what happens when the store
 * cannot answer: those are the store's own tests.
 *
 * @param open opens an empty store on a clock; called once for each test
 */
export function storeContract(open: OpenStore): readonly ContractTest[] {
  return [
    ...TABLE_BEHAVIOURS,
    ...DENIED_BEHAVIOURS,
    ...TOGETHER_BEHAVIOURS,
    ...AT_ONCE_BEHAVIOURS,
    ...CORRECTION_BEHAVIOURS,
    ...APART_BEHAVIOURS,
    ...LEASE_BEHAVIOURS,
    ...EXAMINE_BEHAVIOURS,
    ...CLOSE_BEHAVIOURS,
  ].map((behaviour) => testOf(behaviour, open));
}
