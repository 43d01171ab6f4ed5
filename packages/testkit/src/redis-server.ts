import type { RedisHandle } from './address.js';

/**
 * A Redis of one's own, without persistence. Call its methods one at a time. After `close` only
 * `close` may be called.
 */
export interface RedisServer extends RedisHandle {
  /** Undefined while it is stopped, and for a container, whose process belongs to the engine. */
  readonly pid: number | undefined;
  /** Freezes it: connections stay open, nothing is answered. Resolves when it is frozen. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Asks it to end and waits until it has. Works on a paused server; a stopped one stays so. */
  stop(): Promise<void>;
  /** Ends it without warning and waits until it has. */
  kill(): Promise<void>;
  /** Stops it if it runs and starts it again: same address, empty, no scripts loaded. */
  restart(): Promise<void>;
  /** Ends it and removes what it left on disk. Safe to repeat. */
  close(): Promise<void>;
}
