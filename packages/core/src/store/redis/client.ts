import { invalidType } from '../../errors.js';

/**
 * What is asked of a Redis client: an `ioredis` Redis or Cluster, version 5.4 or 6, is one. It
 * belongs to the app, which makes, configures and ends it; nothing is defined on it.
 */
export interface RedisClient {
  /** True for a client of a Redis Cluster, where the keys of one call must share a slot. */
  readonly isCluster?: boolean;
  /**
   * What ioredis says of its connection: `ready`, `reconnecting`, `end` and others. A client without
   * one is always handed what is asked.
   */
  readonly status?: string;
  /**
   * Of an ioredis Cluster: by slot, the nodes that serve it, as `host:port`, its primary first, as
   * far as the client knows. Without one its Cluster is taken to be up or down as a whole.
   */
  readonly slots?: readonly (readonly string[] | undefined)[];
  evalsha(sha1: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
  /** With true: closes the connection and makes a new one. */
  disconnect?(reconnect?: boolean): void;
  /** For `durability`: WAIT. @returns how many Redis replicas have what this connection wrote */
  wait?(replicas: number, timeoutMs: number): Promise<unknown>;
  /** For `durability` on a Cluster: the clients that its commands go over. */
  nodes?(role: 'master'): readonly RedisClient[];
  /** The socket it is connected by: another one is another connection. */
  readonly stream?: unknown;
}

/** @throws TypeError where `client` is not such a client */
export function checkClient(client: unknown): asserts client is RedisClient {
  const methods = ['evalsha', 'eval'] as const;
  const found = typeof client === 'object' && client !== null ? client : {};
  if (methods.every((name) => typeof (found as Record<string, unknown>)[name] === 'function'))
    return;
  throw invalidType('client', 'an ioredis Redis or Cluster', client);
}
