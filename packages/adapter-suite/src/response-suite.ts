import { Agent, request } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { createLimiter, type Limiter } from '@rl/core';
import { describe, expect, test, vi } from 'vitest';
import { ask } from './client.js';
import { expectAllHandled } from './expect-all-handled.js';
import { type AnyOptions, type AnyRequest, type Framework, has } from './framework.js';
import { PATIENT } from './patient.js';
import { STORE_KINDS, useStores } from './stores.js';
import { useApp } from './use-app.js';
import { useWarnings } from './use-warnings.js';

const KEYS = { p: 'ann' };

const statusOf = ({ headers }: AnyRequest): number => Number(headers['x-status'] ?? 200);
const answering = (status: number) => ({ headers: { 'x-status': status } });

/** What depends on the response, on sockets. */
export function describeResponses(framework: Framework): void {
  describe.each(STORE_KINDS)('after the response, in a %s store', (kind) => {
    const stores = useStores(kind);
    const start = useApp(framework);
    const warnings = useWarnings();
    expectAllHandled();

    function limiterOfTen(): { limiter: Limiter<'p'>; used: () => Promise<number> } {
      const { store } = stores.frozen();
      const policies = { p: { limit: 10, window: '1h' } };
      const limiter = createLimiter({ store, fallback: PATIENT, policies });
      const used = async (): Promise<number> => 10 - (await limiter.peek(KEYS)).remaining;
      return { limiter, used };
    }

    /** Waits until so many permits are used, and sees that it stays so. */
    async function expectUsed(used: () => Promise<number>, count: number): Promise<void> {
      await vi.waitUntil(async () => (await used()) === count, { interval: 1 });
      await turn();
      expect(await used()).toBe(count);
    }

    test('F-07 failed: each failed response is refunded once, none of the others', async () => {
      const { limiter, used } = limiterOfTen();
      const refund = vi.spyOn(limiter, 'refund');
      let handling = (): void => {};
      const handled = new Promise<void>((resolve) => {
        handling = resolve;
      });
      let answer = (): void => {};
      const waits = new Promise<number>((resolve) => {
        answer = () => resolve(200);
      });
      const app = await start({
        limiters: [{ limiter, keys: () => KEYS, refundWhen: 'failed' } as AnyOptions],
        statusOf: (one) => {
          if (one.headers['x-waits'] === undefined) return statusOf(one);
          handling();
          return waits;
        },
      });
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      try {
        for (let i = 0; i < 3; i++) expect((await ask(app, { agent })).status).toBe(200);
        await expectUsed(used, 3);
        const leaving = request({ ...app, agent: false, headers: { 'x-waits': 'yes' } });
        leaving.on('error', () => {}).end();
        await handled;
        expect(await used()).toBe(4);
        leaving.destroy();
        await expectUsed(used, 3);
        answer();
        expect((await ask(app, { agent, ...answering(500) })).status).toBe(500);
        await expectUsed(used, 3);
      } finally {
        agent.destroy();
      }
      expect(refund).toHaveBeenCalledTimes(2);
      expect(warnings()).toEqual([]);
      await limiter.close();
    });

    test('F-07 successful, by a function, and settled by the true cost', async () => {
      const { limiter, used } = limiterOfTen();
      const seen: (number | undefined)[] = [];
      const app = await start({
        limiters: [
          {
            limiter,
            keys: () => KEYS,
            cost: 2,
            refundWhen: async ({ status }: { status: number | undefined }) => status === 204,
            settle: async ({ status }: { status: number | undefined }) => {
              seen.push(status);
              return status === 201 ? 5 : status === 202 ? 0 : undefined;
            },
          } as AnyOptions,
        ],
        statusOf,
      });
      for (const [status, count] of [
        [204, 0],
        [200, 2],
        [201, 7],
        [202, 7],
        [500, 9],
      ] as const) {
        expect((await ask(app, answering(status))).status).toBe(status);
        await expectUsed(used, count);
      }
      expect((await ask(app, answering(200))).status).toBe(429);
      expect(await used()).toBe(9);
      expect(seen).toEqual([200, 201, 202, 500]);
      await limiter.close();
    });
  });

  describe('after the response', () => {
    const start = useApp(framework);
    const warnings = useWarnings();
    expectAllHandled();

    // Only where others can send one is there such a response.
    if (has(framework, 'other responses')) {
      test('F-07 a response that ended before the decision is refunded by how it ended', async () => {
        const limiter = createLimiter({ policies: { p: { limit: 10, window: '1h' } } });
        const deciding: (() => void)[] = [];
        const answers: (() => void)[] = [];
        const keys = (): Promise<typeof KEYS> =>
          new Promise((resolve) => void deciding.push(() => resolve(KEYS)));
        const app = await start({
          limiters: [{ limiter, keys, refundWhen: ({ status }) => status === 503 } as AnyOptions],
          onArrival: (answerLate) => void answers.push(answerLate),
        });
        const refund = vi.spyOn(limiter, 'refund');
        const slow = ask(app);
        await vi.waitUntil(() => deciding.length === 1, { interval: 1 });
        answers[0]?.();
        expect((await slow).status).toBe(503);
        deciding[0]?.();
        await vi.waitUntil(() => refund.mock.calls.length === 1, { interval: 1 });
        await turn();
        expect((await limiter.peek(KEYS)).remaining).toBe(10);
        await limiter.close();
      });
    }

    test('F-07 a refund that fails is a warning', async () => {
      const limiter = createLimiter({ policies: { p: { limit: 10, window: '1h' } } });
      vi.spyOn(limiter, 'refund').mockRejectedValue(new Error('no store'));
      const options = { limiter, keys: () => KEYS, refundWhen: 'failed' } as AnyOptions;
      const app = await start({ limiters: [options], statusOf });
      expect((await ask(app, answering(500))).status).toBe(500);
      await vi.waitUntil(() => warnings().length > 0, { interval: 1 });
      expect(warnings()).toEqual(['RL_AFTER_RESPONSE_FAILED']);
      await limiter.close();
    });
  });
}
