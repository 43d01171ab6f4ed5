import { ALGORITHMS, parsePolicy } from '../../src/policy/policy.js';
import type { RedisClient } from '../../src/store/redis/client.js';
import { type RedisStore, redisStore } from '../../src/store/redis/redis-store.js';

/** Every kind of check of every algorithm. @param key of buckets that nobody has used */
export async function askEverything(store: RedisStore, key: string): Promise<void> {
  await store.heartbeat();
  const policies = ALGORITHMS.map((algorithm) =>
    parsePolicy(algorithm, { algorithm, limit: 100, window: '1h' }, ''),
  );
  for (const policy of policies) {
    for (const cost of [1, 0, 2, 1000]) await store.consume(policy, key, cost);
    await store.overcharge(policy, key, 1);
    await store.refund(policy, key, 1, undefined);
    await store.reset(policy, key);
  }
  await store.consumeAll(policies.map((policy) => ({ policy, key, cost: 1 })));
  for (const algorithm of ['token-bucket', 'fixed-window', 'sliding-window'] as const) {
    const options = { algorithm, limit: 100, window: '1h', lease: true };
    const claim = { policy: parsePolicy('leased', options, ''), key, holder: 1, reports: [] };
    const grant = await store.claim({ ...claim, turn: 1, costs: [1], extra: 5 });
    const reports = [{ epoch: grant?.epoch as number, spent: 1, returned: 4 }];
    await store.claim({ ...claim, turn: 2, reports, costs: [], extra: 0 });
  }
}

/** As `askEverything`, and on to the end where something fails: what failed. */
export async function failuresOf(user: RedisClient, key: string): Promise<Error[]> {
  const store = redisStore(user);
  const failures: Error[] = [];
  const noted = new Proxy(store, {
    get: (target, name) => {
      const method = target[name as 'consume'];
      return async (...args: Parameters<RedisStore['consume']>) =>
        method.apply(target, args).catch((error: Error) => void failures.push(error));
    },
  });
  await askEverything(noted, key);
  await store.close();
  return failures;
}
