import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ask } from './client.js';
import type { Framework, Target } from './framework.js';
import { useApp } from './use-app.js';

/** Whom a request is charged to where the app does not say: the framework's own client address. */
export function describeAddress(framework: Framework): void {
  describe('the client address as the key', () => {
    const start = useApp(framework);
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'adapter-'));
    });
    afterEach(() => rm(folder, { recursive: true }));

    const askAs = async (app: Target, ...forwarded: string[]): Promise<number[]> => {
      const statuses: number[] = [];
      for (const address of forwarded) {
        statuses.push((await ask(app, { headers: { 'x-forwarded-for': address } })).status);
      }
      return statuses;
    };

    test('K-05 X-Forwarded-For is not believed where no proxy is trusted', async () => {
      const app = await start({ limiters: [{ limit: 2, window: '60s' }] });
      const statuses = await askAs(app, '192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4');
      expect(statuses).toEqual([200, 200, 429, 429]);
    });

    test('behind a proxy that the framework trusts, each client has a bucket of its own', async () => {
      const app = await start({ limiters: [{ limit: 1, window: '60s' }], trustProxy: true });
      const statuses = await askAs(app, '192.0.2.1', '192.0.2.2', '192.0.2.1', '2001:db8::1');
      expect(statuses).toEqual([200, 200, 429, 200]);
    });

    test('K-06 a request without an address is an error that says to give a key', async () => {
      const onError = vi.fn();
      const onHandled = vi.fn();
      const socketPath = join(folder, 'app.sock');
      const plan = { limiters: [{ limit: 1, window: '60s' }], onError, onHandled };
      const app = await start(plan, { socketPath });
      expect((await ask(app)).status).toBe(500);
      expect((await ask(app)).status).toBe(500);
      expect(onError).toHaveBeenCalledTimes(2);
      expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'RL_INVALID_VALUE', field: 'key' });
      expect(onHandled).not.toHaveBeenCalled();
    });

    test('K-06 with a key, such requests are limited like others', async () => {
      const socketPath = join(folder, 'app.sock');
      const limiters = [{ limit: 1, window: '60s', key: () => 'everybody' }];
      const app = await start({ limiters }, { socketPath });
      expect((await ask(app)).status).toBe(200);
      expect((await ask(app)).status).toBe(429);
    });
  });
}
