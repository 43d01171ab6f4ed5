import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisHandle } from './address.js';

const PAUSE_MS = 20;
const ATTEMPT_TIMEOUT_MS = 500;

/**
 * Resolves when the server answers PING. `accept` may refuse the one that answered by throwing,
 * `giveUp` may end the wait early by throwing. Otherwise it ends with an error after `timeoutMs`.
 */
export async function waitUntilReady(
  handle: RedisHandle,
  timeoutMs: number,
  hooks: { accept?(client: Redis): Promise<void>; giveUp?(): void } = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const failure = await whyNoAnswer(handle, ATTEMPT_TIMEOUT_MS, hooks.accept);
    hooks.giveUp?.();
    if (failure === undefined) return;
    if (performance.now() >= deadline) {
      throw new Error(`no answer to PING within ${timeoutMs} ms: ${failure}`);
    }
    await delay(PAUSE_MS);
  }
}

/** One connection, one PING: undefined when it is answered, otherwise what went wrong. */
export async function whyNoAnswer(
  handle: RedisHandle,
  timeoutMs: number,
  accept?: (client: Redis) => Promise<void>,
): Promise<string | undefined> {
  const client = new Redis({
    ...handle.connection,
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let connectionError = '';
  client.on('error', (error: Error) => {
    connectionError = error.message;
  });
  try {
    await client.connect();
    await client.ping();
    await accept?.(client);
    return undefined;
  } catch (error) {
    return connectionError || (error instanceof Error ? error.message : String(error));
  } finally {
    client.disconnect();
  }
}
