import { PATIENT, STORE_KINDS, useStores } from '@rl/adapter-suite';
import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { createApp } from '../src/app.js';

describe.each(STORE_KINDS)('quotas in a %s store', (kind) => {
  const stores = useStores(kind);

  test('each customer has five requests a minute', async () => {
    const { store, clock } = stores.frozen();
    const app = createApp(store, PATIENT);
    const ask = (key: string) => request(app.callback()).get('/').set('x-api-key', key);
    for (const left of [4, 3, 2, 1, 0]) {
      await ask('key-of-ann')
        .expect(200, { hello: 'ann' })
        .expect('RateLimit-Policy', '"default";q=5;w=60')
        .expect('RateLimit', `"default";r=${left};t=12`);
    }
    await ask('key-of-ann')
      .expect(429)
      .expect('Retry-After', '12')
      .expect('Content-Type', 'application/problem+json');
    await ask('key-of-bob').expect(200, { hello: 'bob' });
    clock.advance(12_000);
    await ask('key-of-ann').expect(200);
  });

  test('invented keys share the quota of their address', async () => {
    const app = createApp(stores.frozen().store, PATIENT);
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) {
      const answer = await request(app.callback()).get('/').set('x-api-key', `guess-${i}`);
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });
});
