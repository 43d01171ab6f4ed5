import { randomUUID } from 'node:crypto';

/** Registered symbol: the ESM and the CJS build share one id. */
const ID: unique symbol = Symbol.for('@rl/core/replica-id') as never;

/**
 * What this process calls itself where the app gives it no name: random, and the same for all its
 * stores, so that it counts as one replica however many it has. A thread has one of its own.
 */
export function ownReplicaId(): string {
  const shared = globalThis as { [ID]?: string };
  shared[ID] ??= randomUUID();
  return shared[ID];
}
