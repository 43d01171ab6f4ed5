import { invalidType, invalidValue } from '../../errors.js';
import { encodePartitionKey } from '../../key/partition-key.js';
import type { Policy } from '../../policy/policy.js';
import { shardTag } from './shards/shard-tag.js';
import { shardOf } from './shards/shares.js';

/**
 * The layout of a bucket's value: part of its key, so that neither another algorithm under the same
 * name nor a release with another layout misreads or overwrites what others still use.
 */
const LAYOUT = {
  'token-bucket': 'tb1',
  gcra: 'gc1',
  'fixed-window': 'fw1',
  'sliding-window': 'sw1',
  'sliding-log': 'sl1',
} as const;

/** Short, and without what would move the hash tag. */
const NAME = /^[A-Za-z0-9_.:-]{1,64}$/;

/** @throws TypeError or RangeError, naming the field, where it cannot begin a bucket key */
export function checkName(field: string, name: unknown): string {
  const expected = '1 to 64 letters, digits, "_", ".", ":" or "-"';
  if (typeof name !== 'string') throw invalidType(field, expected, name);
  if (!NAME.test(name)) throw invalidValue(field, expected, name);
  return name;
}

/**
 * `<prefix>:{<partition key>}:<policy>:<layout>`. The braces are the hash tag: all policies of one
 * partition key share a slot of a Redis Cluster. Of a sub-bucket they have a suffix, which puts it into
 * a slot of its own. At most 349 bytes of ASCII, and injective: neither a policy name nor an encoded
 * partition key contains what separates them.
 */
export function bucketKey(prefix: string, policy: Policy, partitionKey: string): string {
  const encoded = encodePartitionKey(partitionKey);
  const shard = shardOf(policy);
  const tag = shard === undefined ? encoded : shardTag(encoded, shard);
  return `${prefix}:{${tag}}:${policy.name}:${LAYOUT[policy.algorithm]}`;
}

/** What a region holds of a bucket that lives in another store: beside the bucket's own key. */
export function poolKey(prefix: string, policy: Policy, partitionKey: string): string {
  return `${bucketKey(prefix, policy, partitionKey)}:pool`;
}
