import { PATIENT, STORE_KINDS, useStores } from '@rl/adapter-suite';
import { describe, expect, test } from 'vitest';
import { createApp } from '../src/app.js';

describe.each(STORE_KINDS)('quotas in a %s store', (kind) => {
  const stores = useStores(kind);

  test('each customer has five requests a minute', async () => {
    const { store, clock } = stores.frozen();
    await using app = createApp(store, PATIENT);
    const ask = (key: string) => app.inject({ url: '/', headers: { 'x-api-key': key } });
    for (const left of [4, 3, 2, 1, 0]) {
      const answer = await ask('key-of-ann');
      expect(answer.statusCode).toBe(200);
      expect(answer.json()).toEqual({ hello: 'ann' });
      expect(answer.headers).toMatchObject({
        'ratelimit-policy': '"default";q=5;w=60',
        ratelimit: `"default";r=${left};t=12`,
      });
    }
    const denied = await ask('key-of-ann');
    expect(denied.statusCode).toBe(429);
    expect(denied.headers).toMatchObject({
      'retry-after': '12',
      'content-type': 'application/problem+json',
    });
    expect((await ask('key-of-bob')).json()).toEqual({ hello: 'bob' });
    clock.advance(12_000);
    expect((await ask('key-of-ann')).statusCode).toBe(200);
  });

  test('invented keys share the quota of their address', async () => {
    await using app = createApp(stores.frozen().store, PATIENT);
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) {
      const answer = await app.inject({ url: '/', headers: { 'x-api-key': `guess-${i}` } });
      statuses.push(answer.statusCode);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });
});
