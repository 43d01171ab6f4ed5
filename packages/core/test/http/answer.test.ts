import { describe, expect, it } from 'vitest';
import type { Denied } from '../../src/decision/decision.js';
import { denialOf } from '../../src/http/denial.js';
import { Gate, type Verdict } from '../../src/http/gate.js';
import type { RateLimitOptions } from '../../src/http/options.js';
import { createLimiter } from '../../src/limiter/limiter.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { bodyOf, readerOf, seen } from './gates.js';

interface Request {
  readonly address?: string | undefined;
  readonly id?: string;
}

const FIVE_A_MINUTE = { limit: 5, window: '60s' };

function open(options: Partial<RateLimitOptions<Request>> = {}) {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const all = { ...FIVE_A_MINUTE, store, ...options } as RateLimitOptions<Request>;
  return {
    clock,
    store,
    gate: new Gate<Request>(
      all,
      readerOf((request) => request.address),
    ),
  };
}

describe('an allowed request', () => {
  it('is told the policy and what is left, at once', () => {
    const { gate } = open();
    const verdict = gate.judge({ address: '198.51.100.9' }) as Verdict;
    expect(verdict.refusal).toBeUndefined();
    expect(seen(verdict)).toEqual({
      'RateLimit-Policy': '"default";q=5;w=60',
      RateLimit: '"default";r=4;t=12',
    });
  });
});

describe('a denied request', () => {
  it('H-01 is told the wait in whole seconds, rounded up, and why', () => {
    const { gate, clock } = open({ name: 'tenant' });
    for (let i = 0; i < 5; i++) gate.judge({ address: '192.0.2.1' });
    clock.advance(100);
    const verdict = gate.judge({ address: '192.0.2.1' }) as Verdict;
    expect(seen(verdict)).toEqual({
      'RateLimit-Policy': '"tenant";q=5;w=60',
      RateLimit: '"tenant";r=0;t=12',
      'Retry-After': '12',
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
    });
    expect(verdict.refusal?.status).toBe(429);
    expect(JSON.parse(bodyOf(verdict))).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Quota Exceeded',
      status: 429,
      detail: 'The quota is 5 per 1m. Try again in 12 s.',
      'violated-policies': ['tenant'],
    });
  });

  it('is not told a wait that would be a lie', () => {
    const { gate } = open({ cost: 6 });
    const verdict = gate.judge({ address: '192.0.2.1' }) as Verdict;
    expect(seen(verdict)).not.toHaveProperty('Retry-After');
    expect(seen(verdict).RateLimit).toBe('"default";r=5');
    expect(bodyOf(verdict)).toContain('costs more than can ever be spent at once');
  });

  it('C-01 limit 0: denied, and no header holds a number that is none', () => {
    const { gate } = open({ limit: 0 });
    const verdict = gate.judge({ address: '192.0.2.1' }) as Verdict;
    expect(verdict.refusal?.status).toBe(429);
    expect(JSON.stringify([seen(verdict), bodyOf(verdict)])).not.toMatch(/NaN|Infinity|null/);
    expect(seen(verdict)['RateLimit-Policy']).toBe('"default";q=0;w=60');
  });

  it('a wait of a millisecond is a second', () => {
    const denied = { policy: 'p', limit: 5, windowMs: 1000, allowed: false, retryAfterMs: 1 };
    expect(denialOf(denied as Denied).retryAfterS).toBe(1);
  });
});

describe('options', () => {
  it('a cost function that returns nothing is an error, not a cost of 1', () => {
    const { gate } = open({ cost: () => undefined as never });
    expect(() => gate.judge({ address: '192.0.2.1' })).toThrow(
      'cost must be an integer of at least 0, got undefined',
    );
  });

  it('C-01 enabled: false makes no check', () => {
    const { gate, store } = open({ enabled: false });
    expect(gate.judge({ address: '192.0.2.1' })).toBeUndefined();
    expect(store.size).toBe(0);
  });

  it('key, keys and cost may be promises, of any library', async () => {
    const thenable = <T>(value: T): PromiseLike<T> => ({
      // biome-ignore lint/suspicious/noThenProperty: a promise of another library
      then: (resolve, reject) => Promise.resolve(value).then(resolve, reject),
    });
    const { gate } = open({ key: ({ id }) => thenable(id ?? ''), cost: async () => 2 });
    const pending = gate.judge({ id: 'x' });
    expect(pending).not.toHaveProperty('decision');
    expect((await pending)?.decision?.remaining).toBe(3);

    const limiter = createLimiter({ policies: { tenant: FIVE_A_MINUTE } });
    const other = new Gate<Request>(
      { limiter, keys: async ({ id = '' }) => ({ tenant: id }) },
      readerOf(() => undefined),
    );
    expect((await other.judge({ id: 'x' }))?.decision).toMatchObject({ policy: 'tenant' });
    await limiter.close();
  });

  it('a limiter with several policies: each request falls under the one its keys name', () => {
    const limiter = createLimiter({
      policies: { tenant: FIVE_A_MINUTE, search: { limit: 1, window: '1s' } },
    });
    const gate = new Gate<Request>(
      { limiter, keys: ({ id = '' }) => ({ [id]: 'k' }) },
      readerOf(() => ''),
    );
    expect(seen(gate.judge({ id: 'tenant' }) as Verdict).RateLimit).toBe('"tenant";r=4;t=12');
    expect(seen(gate.judge({ id: 'search' }) as Verdict)['RateLimit-Policy']).toBe(
      '"search";q=1;w=1',
    );
    void limiter.close();
  });

  it('close ends the limiter it made, and not one that was passed in', async () => {
    const { gate } = open();
    await gate.close();
    expect(() => gate.judge({ address: '192.0.2.1' })).toThrow('the limiter is closed');

    const limiter = createLimiter({ policies: { p: FIVE_A_MINUTE } });
    await new Gate<Request>(
      { limiter, keys: () => ({ p: 'k' }) },
      readerOf(() => ''),
    ).close();
    expect(limiter.tryConsume({ p: 'k' })?.allowed).toBe(true);
    await limiter.close();
  });

  it.each<[unknown, string]>([
    [undefined, 'options must be an object with limit and window, or with limiter, got undefined'],
    [{ limit: -1, window: '1s' }, 'limit must be an integer of at least 0, got -1'],
    [{ max: 5, window: '1s' }, 'max is not an option; the options are limit, window, burst'],
    [{ ...FIVE_A_MINUTE, key: 'ip' }, 'key must be a function of the request, got "ip"'],
    [{ ...FIVE_A_MINUTE, cost: 1.5 }, 'cost must be an integer of at least 0, got 1.5'],
    [{ ...FIVE_A_MINUTE, enabled: 'no' }, 'enabled must be true or false, got "no"'],
    [{ ...FIVE_A_MINUTE, name: 'a b' }, 'name must be 1 to 64 letters'],
    [{ limiter: {} }, 'limiter must be a limiter made by createLimiter, got an object'],
    [
      { limiter: 'x', keys: () => ({}) },
      'limiter must be a limiter made by createLimiter, got "x"',
    ],
  ])('%j is refused', (options, message) => {
    const make = () =>
      new Gate(
        options as RateLimitOptions<Request>,
        readerOf(() => 'a'),
      );
    expect(make).toThrow(new RegExp(`^${message.replaceAll(/[()]/g, '\\$&')}`));
  });

  it('a limiter needs keys, and takes no policy beside it', () => {
    const limiter = createLimiter({ policies: { p: FIVE_A_MINUTE } });
    const gate = (options: object) => () =>
      new Gate(
        { limiter, ...options } as RateLimitOptions<Request>,
        readerOf(() => 'a'),
      );
    expect(gate({})).toThrow('keys must be a function of the request, got undefined');
    expect(gate({ keys: () => ({}), limit: 5 })).toThrow('limit is not an option; the options are');
    void limiter.close();
  });
});

describe('what is thrown is an object, as no framework takes that for "go on"', () => {
  it.each([undefined, null, 'route', 7])('%s', async (reason) => {
    const options = {
      key: () => {
        throw reason;
      },
    };
    const message = `the request could not be judged: ${reason}`;
    expect(() => open(options).gate.judge({})).toThrow(message);
    const { gate } = open({ key: () => Promise.reject(reason) });
    await expect(gate.judge({})).rejects.toMatchObject({ message, cause: reason });
  });

  it('an error is passed as it is', async () => {
    const error = new Error('no tenant');
    await expect(open({ key: () => Promise.reject(error) }).gate.judge({})).rejects.toBe(error);
  });
});
