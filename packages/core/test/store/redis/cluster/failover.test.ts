import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Decision } from '../../../../src/decision/decision.js';
import type { RateLimitError } from '../../../../src/errors.js';
import { createLimiter } from '../../../../src/limiter/limiter.js';
import { redisStore } from '../../../../src/store/redis/redis-store.js';
import { type OpenCluster, openCluster } from '../../../support/cluster.js';
import { PATIENT } from '../../../support/patient.js';

const LIMIT = 10;

let opened: OpenCluster;
beforeAll(async () => {
  opened = await openCluster({ replicasEach: 1, nodeTimeoutMs: 1_500 });
});
afterAll(() => opened.close());

/** Which primary a key is on. */
async function ownerOf(key: string): Promise<string> {
  return (await opened.cluster.primaryOf(await opened.cluster.slotOf(key))).id;
}

it('a primary is killed and its replica promoted under load: exactly the limit of each key, heartbeats again', async () => {
  const { cluster } = opened;
  const keys = Array.from({ length: 30 }, (_, i) => `k${i}`);
  const store = redisStore(opened.client);
  const limiter = createLimiter({
    policies: { ten: { limit: LIMIT, window: '1h' } },
    store,
    fallback: { ...PATIENT, mode: 'closed' },
  });
  const killed = await cluster.primaryOf(await cluster.slotOf('rl:replicas'));
  const owners = new Map<string, string>();
  for (const key of keys) owners.set(key, await ownerOf(`{${key}}`));
  expect(keys.filter((key) => owners.get(key) === killed.id).length).toBeGreaterThan(0);
  const other = redisStore(opened.client, { replicaId: 'other' });
  expect([await store.heartbeat(), await other.heartbeat()]).toEqual([1, 2]);

  const decisions = new Map<string, Decision[]>(keys.map((key) => [key, []]));
  const askAll = () =>
    Promise.all(
      keys.map(async (key) => {
        decisions.get(key)?.push(await limiter.consume({ ten: key }));
      }),
    );
  const admitted = (key: string) =>
    (decisions.get(key) as Decision[]).filter(({ allowed }) => allowed).length;
  for (let i = 0; i < 3; i++) await askAll();

  // All is copied, and no call under way: a failover loses what is not.
  const primary = opened.direct(killed);
  expect(await primary.call('WAIT', 1, 5000)).toBe(1);
  await cluster.killPrimary(killed);
  let promoted = false;
  const promotion = cluster.untilPromoted(killed).then((node) => {
    promoted = true;
    return node;
  });
  const heartbeats: unknown[] = [];
  while (!promoted) {
    await askAll();
    heartbeats.push(await store.heartbeat().catch((error: unknown) => error));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await promotion;
  const failedBeats = heartbeats.filter((beat) => typeof beat !== 'number') as RateLimitError[];
  expect(failedBeats.length).toBeGreaterThan(0);
  for (const error of failedBeats) {
    expect(error).toMatchObject({ code: 'RL_STORE_FAILED', retryable: true });
    expect(['connection', 'unavailable']).toContain(error.fault);
  }
  // Meanwhile the store alone decided, or nobody: by what it could not answer nothing is admitted.
  for (const list of decisions.values()) {
    for (const decision of list) {
      if (decision.origin === 'fallback') {
        expect(decision).toMatchObject({ allowed: false, fallback: { mode: 'closed' } });
      }
    }
  }

  await expect.poll(() => limiter.health().store, { timeout: 10_000 }).toBe('up');
  await expect.poll(() => store.heartbeat().catch(String), { timeout: 5000 }).toBe(2);
  for (let i = 0; i < LIMIT + 1; i++) await askAll();
  for (const key of keys) {
    // By the store's answer, or as it is remembered.
    expect((decisions.get(key) as Decision[]).at(-1)).toMatchObject({
      allowed: false,
      origin: expect.stringMatching('store|memory'),
    });
    expect(admitted(key)).toBe(LIMIT);
  }
  await limiter.close();
});
