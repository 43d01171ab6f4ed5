import { createHash } from 'node:crypto';
import type { Script } from '../../src/store/redis/script.js';
import { region } from '../../src/testing/frozen-scripts.generated.js';

/** A pool with one mistake, which makes its region overshoot or tell of what it was not granted. */
export interface PoolMutant {
  readonly name: string;
  readonly script: Script;
}

function mutant(name: string, from: string, to: string): PoolMutant {
  const parts = region.text.split(from);
  if (parts.length !== 2) throw new Error(`${name}: ${parts.length - 1} places have ${from}`);
  const text = parts.join(to);
  return { name, script: { text, sha1: createHash('sha1').update(text).digest('hex') } };
}

export const POOL_MUTANTS: readonly PoolMutant[] = [
  mutant(
    'tells twice what was spent',
    'lease.spent, lease.left = 0, lease.left - back',
    'lease.left = lease.left - back',
  ),
  mutant(
    'spends what it has returned',
    'lease.spent, lease.left = 0, lease.left - back',
    'lease.spent = 0',
  ),
  mutant('takes the answer to an earlier claim', 'if number ~= s.order then return end', ''),
  mutant('takes an answer twice', 's.order = 0\ns.left,', 's.left,'),
  mutant(
    'spends and keeps what it takes',
    'lease.left, lease.spent, cost = lease.left - permits,',
    'lease.left, lease.spent, cost = lease.left,',
  ),
  mutant(
    'spends what is over',
    'if now < lease.ends then left = left + lease.left end',
    'left = left + lease.left',
  ),
  mutant(
    'keeps what it lends',
    'last.left, last.lent = last.left - lent,',
    'last.left, last.lent = last.left,',
  ),
  mutant(
    'returns what is lent',
    'local back = (over or all) and lease.left or 0',
    'local back = (over or all) and lease.left + lease.lent or 0',
  ),
];
