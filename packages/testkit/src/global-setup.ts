import { parseRedisUrl, withoutPassword } from './address.js';
import { findRedis, type RedisProbes } from './find-redis.js';
import { whyNoAnswer } from './ready.js';
import { SHARED_URL } from './shared-redis.js';
import { startRedis } from './start-redis.js';

const ANSWER_TIMEOUT_MS = 5_000;

/** What vitest runs before the first test file is loaded; the function it returns, after the last. */
export default function setup(): Promise<() => Promise<void>> {
  return prepareSharedRedis(process.env);
}

/**
 * Gives a test run its shared Redis by writing `RL_TEST_REDIS_URL` into `env`, which the test
 * processes inherit. Fails, and the whole run with it, where none can be had or `REDIS_URL` does
 * not answer. Returns the undoing.
 */
export async function prepareSharedRedis(
  env: Record<string, string | undefined>,
  probes?: RedisProbes,
): Promise<() => Promise<void>> {
  const found = await findRedis(env, probes);
  if (found.kind === 'url') {
    const failure = await whyNoAnswer(parseRedisUrl(found.url, 'REDIS_URL'), ANSWER_TIMEOUT_MS);
    if (failure !== undefined) {
      throw new Error(`REDIS_URL=${withoutPassword(found.url)} does not answer: ${failure}`);
    }
    env[SHARED_URL] = found.url;
    return async () => {
      delete env[SHARED_URL];
    };
  }
  const server = await startRedis();
  env[SHARED_URL] = server.url;
  return async () => {
    delete env[SHARED_URL];
    await server.close();
  };
}
