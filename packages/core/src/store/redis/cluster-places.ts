import { encodePartitionKey } from '../../key/partition-key.js';
import type { Charge } from '../store.js';
import type { RedisClient } from './client.js';
import { slotOf } from './slot.js';

/** The place of keys that no node serves, as far as the client knows: it may not be connected yet. */
const NO_NODE = 'no node';

/**
 * As of `Store.placeOf`: the node of a Cluster that serves a partition key's buckets, by its client's
 * own table of slots, which follows failovers and moved slots. Undefined where the client is no
 * Cluster's, or does not show its table.
 */
export function placeOfBy(client: RedisClient): ((partitionKey: string) => string) | undefined {
  if (!client.isCluster || !Array.isArray(client.slots)) return undefined;
  // A call asks for its key's place a few times in a row.
  let lastKey: string | undefined;
  let lastSlot = 0;
  return (partitionKey) => {
    if (partitionKey !== lastKey) {
      lastSlot = slotOf(encodePartitionKey(partitionKey));
      lastKey = partitionKey;
    }
    return client.slots?.[lastSlot]?.[0] ?? NO_NODE;
  };
}

/**
 * The node of a Cluster that a key with a hash tag is sent to, by its client's own table of slots. The
 * same text for all keys where the client is no Cluster's, or does not show its table.
 */
export function nodeOfBy(client: RedisClient): (key: string) => string {
  if (!client.isCluster || !Array.isArray(client.slots)) return () => NO_NODE;
  return (key) => {
    const open = key.indexOf('{');
    const tag = open < 0 ? key : key.slice(open + 1, key.indexOf('}', open));
    return client.slots?.[slotOf(tag)]?.[0] ?? NO_NODE;
  };
}

/** An error that came when one place was asked, which says so from then on. @param asked of that place */
export function withPlace(
  error: unknown,
  [first]: readonly Charge[],
  placeOf: ((partitionKey: string) => string) | undefined,
): unknown {
  if (first === undefined || placeOf === undefined) return error;
  return Object.assign(error as Error, { place: placeOf(first.key) });
}
