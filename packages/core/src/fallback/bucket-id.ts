import { boundPartitionKey } from '../key/partition-key.js';
import type { Policy } from '../policy/policy.js';

/** A bucket by its policy's name and algorithm and its partition key. Policy names have no colon. */
export function bucketId({ name, algorithm }: Policy, key: string): string {
  return `${name}:${algorithm}:${boundPartitionKey(key)}`;
}
