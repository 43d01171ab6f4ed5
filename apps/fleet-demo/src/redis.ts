import { Redis } from 'ioredis';

const ANSWER_TIMEOUT_MS = 5_000;

/**
 * A connected client. It fails soon rather than waiting long, at the start and later: the demo
 * reports what did not work and has nothing to gain from patience.
 *
 * @throws Error that says why the server does not answer
 */
export async function connectRedis(url: string): Promise<Redis> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: ANSWER_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason = '';
  client.on('error', (error: Error) => {
    reason = error.message;
  });
  try {
    await client.connect();
    await client.ping();
    return client;
  } catch (error) {
    client.disconnect();
    throw new Error(reason || (error instanceof Error ? error.message : String(error)), {
      cause: error,
    });
  }
}
