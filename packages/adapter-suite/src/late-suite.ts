import { Agent, request, type ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { ask } from './client.js';
import { expectAllHandled } from './expect-all-handled.js';
import { type AnyRequest, type Framework, has } from './framework.js';
import { useApp } from './use-app.js';

/** The key function of requests that come with `x-key`, or must wait for theirs in `waiting`. */
class SlowKeys {
  readonly waiting: { decide(key: string): void; fail(reason: unknown): void }[] = [];

  readonly key = ({ headers }: AnyRequest): string | Promise<string> => {
    const given = headers['x-key'];
    if (typeof given === 'string') return given;
    return new Promise((decide, fail) => void this.waiting.push({ decide, fail }));
  };

  /** Resolves when a request waits. */
  async someoneWaits(): Promise<void> {
    await vi.waitUntil(() => this.waiting.length > 0, { interval: 1 });
  }
}

/** How a wait can end, where `spent` has no quota left. */
const ENDS = [
  ['allows', (keys: SlowKeys) => keys.waiting[0]?.decide('new')],
  ['denies', (keys: SlowKeys) => keys.waiting[0]?.decide('spent')],
  ['fails', (keys: SlowKeys) => keys.waiting[0]?.fail(new Error('no tenant'))],
] as const;

const SPEND = { headers: { 'x-key': 'spent' } };

/** Decisions that come when the response is no longer ours to write. */
export function describeLateDecisions(framework: Framework): void {
  describe('late decisions', () => {
    const start = useApp(framework);
    expectAllHandled();

    if (has(framework, 'other responses')) describeOtherResponses(start);

    test('a client that has left before the decision harms nobody', async () => {
      const keys = new SlowKeys();
      const closed = vi.fn();
      const app = await start({ limiters: [{ limit: 1, window: '60s', key: keys.key }] });
      const leaving = request({ ...app, agent: false });
      leaving.once('error', closed).end();
      await keys.someoneWaits();
      leaving.destroy();
      await vi.waitUntil(() => closed.mock.calls.length === 1, { interval: 1 });
      keys.waiting[0]?.decide('spent');
      await turn();
      expect((await ask(app, SPEND)).status).toBe(429);
    });
  });
}

/** Responses that others have sent or begun meanwhile. */
function describeOtherResponses(start: ReturnType<typeof useApp>): void {
  test.each(ENDS)('F-09 a response sent before the limiter %s is left alone', async (_, end) => {
    const keys = new SlowKeys();
    const answers: (() => void)[] = [];
    const onHandled = vi.fn();
    const app = await start({
      limiters: [{ limit: 1, window: '60s', key: keys.key }],
      onArrival: (answerLate) => void answers.push(answerLate),
      onHandled,
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      expect((await ask(app, { ...SPEND, agent })).status).toBe(200);
      const slow = ask(app, { agent });
      await keys.someoneWaits();
      answers[1]?.();
      expect(await slow).toMatchObject({ status: 503, body: 'late' });
      end(keys);
      await turn();
      // The connection is as good as before.
      expect((await ask(app, { ...SPEND, agent })).status).toBe(429);
    } finally {
      agent.destroy();
    }
    expect(onHandled).toHaveBeenCalledTimes(1);
  });

  test.each(ENDS)('F-09 a response begun before the limiter %s is left alone', async (_, end) => {
    const keys = new SlowKeys();
    const takers: (() => ServerResponse)[] = [];
    const onHandled = vi.fn();
    const app = await start({
      limiters: [{ limit: 1, window: '60s', key: keys.key }],
      onArrival: (_answerLate, takeRaw) => void takers.push(takeRaw),
      onHandled,
    });
    expect((await ask(app, SPEND)).status).toBe(200);
    const slow = ask(app);
    await keys.someoneWaits();
    const raw = takers[1]?.();
    raw?.writeHead(202).write('begun');
    end(keys);
    await turn();
    raw?.end(' and ended');
    const answer = await slow;
    expect(answer).toMatchObject({ status: 202, body: 'begun and ended' });
    expect(answer.headers).not.toHaveProperty('ratelimit');
    expect(onHandled).toHaveBeenCalledTimes(1);
  });

  test('a request that was answered before it came to the limiter is left alone', async () => {
    const onError = vi.fn();
    const onHandled = vi.fn();
    const app = await start({
      limiters: [{ limit: 1, window: '60s' }],
      onArrival: (answerLate) => answerLate(),
      onHandled,
      onError,
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      for (let i = 0; i < 3; i++) {
        expect(await ask(app, { agent })).toMatchObject({ status: 503, body: 'late' });
      }
    } finally {
      agent.destroy();
    }
    expect(onHandled).not.toHaveBeenCalled();
    expect(onError).not.toHaveBeenCalled();
  });
}
