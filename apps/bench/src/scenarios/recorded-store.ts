import type { Store } from '@rl/core';
import { type RedisClient, redisStore } from '@rl/core/redis';
import type { Redis } from 'ioredis';

/** A call as our store makes it: the digest of its script, its keys, its arguments. */
export interface RecordedCall {
  readonly sha1: string;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** Our store on `client`, and the calls it made by a script's digest, in order. */
export interface RecordedStore {
  readonly store: Store;
  readonly calls: readonly RecordedCall[];
  /** All keys it has named so far. */
  readonly keys: ReadonlySet<string>;
}

/** Makes a store whose calls go to `client` and are noted. */
export function recordedStore(client: Redis, prefix: string): RecordedStore {
  const calls: RecordedCall[] = [];
  const keys = new Set<string>();
  const split = (keyCount: number, all: readonly (string | number)[]) => {
    const named = all.slice(0, keyCount).map(String);
    for (const key of named) keys.add(key);
    return { keys: named, args: all.slice(keyCount) };
  };
  const recording: RedisClient = {
    eval(script, keyCount, ...all) {
      split(keyCount, all);
      return client.eval(script, keyCount, ...all);
    },
    evalsha(sha1, keyCount, ...all) {
      calls.push({ sha1, ...split(keyCount, all) });
      return client.evalsha(sha1, keyCount, ...all);
    },
  };
  return { store: redisStore(recording, { prefix }), calls, keys };
}
