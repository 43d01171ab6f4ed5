import { createLimiter, type Limiter } from '@rl/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ask } from './client.js';
import type { AnyRequest, Listen, RunningApp } from './framework.js';

/** Options of a status page that fit every adapter. */
export interface AnyStatusOptions {
  readonly limiters: Limiter;
  readonly allow: (request: AnyRequest | Request) => boolean | Promise<boolean>;
}

/** A framework with the adapter's status page. */
export interface StatusFramework {
  readonly name: string;
  /** An app that has the page at `/ops/limits`. `onError` gets what reaches its error handling. */
  start(
    options: AnyStatusOptions,
    listen: Listen,
    onError: (error: unknown) => void,
  ): Promise<RunningApp>;
}

const MOUNT = '/ops/limits';

/** The status page over real sockets: what the page itself does is tested in core. */
export function describeStatusPage(framework: StatusFramework): void {
  describe(`the status page of ${framework.name}`, () => {
    const running: RunningApp[] = [];
    afterEach(async () => {
      await Promise.all(running.splice(0).map((app) => app.close()));
    });

    const start = async (
      allow: AnyStatusOptions['allow'] = () => true,
      onError: (error: unknown) => void = () => {},
    ) => {
      const limiter = createLimiter({ policies: { api: { limit: 2, window: '1m' } } });
      for (let i = 0; i < 3; i++) limiter.tryConsume({ api: 'tenant 1' });
      const app = await framework.start({ limiters: limiter, allow }, 'port', onError);
      running.push(app);
      return app.target;
    };

    test('is HTML with and without a slash, and brings its style and script', async () => {
      const app = await start();
      for (const path of [MOUNT, `${MOUNT}/`, `${MOUNT}?a=b`]) {
        const page = await ask(app, { path });
        expect(page.status).toBe(200);
        expect(page.headers).toMatchObject({
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-store',
          'content-security-policy': expect.stringContaining("default-src 'none'"),
        });
        expect(page.body).toContain(`href="${MOUNT}/status.css"`);
        expect(page.body).toContain(`src="${MOUNT}/status.js"`);
      }
      const style = await ask(app, { path: `${MOUNT}/status.css` });
      expect(style).toMatchObject({ status: 200 });
      expect(style.headers['content-type']).toBe('text/css; charset=utf-8');
      const script = await ask(app, { path: `${MOUNT}/status.js` });
      expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
      const head = await ask(app, { path: MOUNT, method: 'HEAD' });
      expect(head).toMatchObject({ status: 200, body: '' });
    });

    test('tells the facts, and explains a key that is denied', async () => {
      const app = await start();
      const { facts } = JSON.parse((await ask(app, { path: `${MOUNT}/facts` })).body);
      const [policy] = facts.limiters[0].policies;
      expect(policy).toMatchObject({ name: 'api', outcomes: { allowed: 2, denied: 1 } });
      const headers = { 'rl-policy': 'api', 'rl-key': 'tenant%201', 'rl-cost': '1' };
      const told = await ask(app, { path: `${MOUNT}/explain`, headers });
      expect(told.status).toBe(200);
      const { answer, masked } = JSON.parse(told.body);
      expect(answer).toMatch(/^Denied: 0 of 2 permits are left under policy api\./);
      expect(masked).toBe(policy.top.denied[0].key);
      const bad = await ask(app, { path: `${MOUNT}/explain`, headers: { 'rl-cost': 'x' } });
      expect(bad.status).toBe(400);
    });

    test('answers nothing else', async () => {
      const app = await start();
      expect((await ask(app, { path: `${MOUNT}/nothing` })).status).toBe(404);
      expect((await ask(app, { path: `${MOUNT}x` })).status).toBe(404);
      const headers = { 'content-type': 'application/json', 'content-length': 0 };
      const posted = await ask(app, { path: MOUNT, method: 'POST', headers });
      expect(posted.status).toBe(405);
      expect(posted.headers.allow).toBe('GET, HEAD');
    });

    test('shows nothing to whom the app does not allow it', async () => {
      const allow = vi.fn(async () => false);
      const app = await start(allow);
      for (const path of ['', '/', '/status.js', '/facts', '/explain', '/nothing']) {
        const refused = await ask(app, { path: MOUNT + path });
        expect(refused).toMatchObject({ status: 403, body: 'Forbidden' });
        expect(refused.headers['cache-control']).toBe('no-store');
      }
      expect(allow).toHaveBeenCalledTimes(6);
    });

    test('leaves a failing lock to the error handling', async () => {
      const onError = vi.fn();
      const app = await start(() => {
        throw new Error('no session');
      }, onError);
      const failed = await ask(app, { path: `${MOUNT}/facts` });
      expect(failed.status).toBe(500);
      expect(failed.body).not.toContain('tenant');
      expect(onError).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ message: 'no session' }),
      );
    });
  });
}
