import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest';
import { Gate, type Verdict } from '../../src/http/gate.js';
import { NO_HEADERS } from '../../src/http/headers/report.js';
import type { MissingKey } from '../../src/http/missing-key.js';
import type { RateLimitOptions } from '../../src/http/options.js';
import { createLimiter, type LimiterOptions } from '../../src/limiter/limiter.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { bodyOf, readerOf } from './gates.js';
import { forgetWarnings } from './warnings.js';

interface Request {
  readonly address?: string | undefined;
  readonly key?: unknown;
}

const ONE_A_MINUTE = { limit: 1, window: '60s' };
const addressOf = (request: Request): string | undefined => request.address;

function open(options: object = {}) {
  const store = memoryStore({ clock: new ManualClock() });
  const all = { ...ONE_A_MINUTE, store, ...options } as RateLimitOptions<Request>;
  const gate = new Gate<Request>(all, readerOf(addressOf));
  const statusOf = (request: Request): number => {
    const verdict = gate.judge(request) as Verdict | undefined;
    return verdict?.refusal?.status ?? 200;
  };
  return { store, gate, statusOf };
}

/** With a key function that gives what the request says. */
function openKeyed(options: object = {}) {
  return open({ key: ({ key }: Request) => key, ...options });
}

/** With a limiter of several policies whose keys are what the request says. */
function openLimiter(policies: LimiterOptions['policies'], options: object = {}) {
  const store = memoryStore({ clock: new ManualClock() });
  const limiter = createLimiter({ store, policies });
  const all = { limiter, keys: ({ key }: Request) => key, ...options } as RateLimitOptions<Request>;
  return { store, limiter, gate: new Gate<Request>(all, readerOf(addressOf)) };
}

let warned: Mock<typeof process.emitWarning>;
beforeEach(() => {
  forgetWarnings();
  warned = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
});
afterEach(() => void warned.mockRestore());

const MISSING = [undefined, null, '', Number.NaN, Number.NEGATIVE_INFINITY, {}, [], false, () => 1];

describe('without a key function', () => {
  it('K-02 the network of the address is charged', () => {
    const { statusOf, store } = open({ ipv6Prefix: 64, limit: 10 });
    const statuses = Array.from({ length: 1000 }, (_, i) =>
      statusOf({ address: `2001:db8:1:2::${(i + 1).toString(16)}` }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(store.size).toBe(1);
    expect(statusOf({ address: '2001:db8:1:3::1' })).toBe(200);
    expect(store.size).toBe(2);
  });

  it('by default a network of 56 bits', () => {
    const { statusOf } = open();
    expect(statusOf({ address: '2001:db8:0:1200::1' })).toBe(200);
    expect(statusOf({ address: '2001:db8:0:12ff::1' })).toBe(429);
    expect(statusOf({ address: '2001:db8:0:1300::1' })).toBe(200);
  });

  it.each([undefined, '', 'not-an-ip', '1.2.3.4.5'])(
    'K-06 %j is an error that says what to do, and one warning',
    (address) => {
      const { gate, store } = open();
      for (let i = 0; i < 2; i++) {
        expect(() => gate.judge({ address })).toThrow(
          `key must be given, or noAddress chosen, where a request has no client address, as on a Unix socket, got ${JSON.stringify(address)}`,
        );
      }
      expect(store.size).toBe(0);
      expect(warned).toHaveBeenCalledTimes(1);
      expect(warned).toHaveBeenCalledWith(
        `a request has no client address to be charged to, got ${JSON.stringify(address)}: noAddress is "error"`,
        { type: 'RateLimitWarning', code: 'RL_NO_ADDRESS' },
      );
    },
  );

  it.each([
    ['deny', [429, 429], 0],
    ['skip', [200, 200], 0],
    ['share', [200, 429], 1],
  ])('K-06 with noAddress %s', (noAddress, statuses, buckets) => {
    const { statusOf, store } = open({ noAddress });
    expect([statusOf({}), statusOf({ address: 'not-an-ip' })]).toEqual(statuses);
    expect(store.size).toBe(buckets);
    expect(warned).toHaveBeenCalledTimes(1);
    expect(statusOf({ address: 'fe80::1%eth0.100' })).toBe(200);
  });
});

describe('a key function', () => {
  it('gives a text, or a number that stands for its decimal text', () => {
    const { statusOf, store } = openKeyed();
    expect([7, '7', 0, '0', 10n, '10'].map((key) => statusOf({ key }))).toEqual([
      200, 429, 200, 429, 200, 429,
    ]);
    expect(store.size).toBe(3);
  });

  it.each(MISSING)('K-11 that gives %o: the address is charged', (key) => {
    const { statusOf, store } = openKeyed();
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      expect([1, 2, 3].map(() => statusOf({ key, address }))).toEqual([200, 429, 429]);
    }
    expect(store.size).toBe(2);
    expect(statusOf({ key: 'undefined' })).toBe(200);
    expect(statusOf({ key: '[object Object]' })).toBe(200);
  });

  it('K-11 so it is where nothing comes later', async () => {
    const { gate, store } = openKeyed({ key: async () => undefined });
    expect((await gate.judge({ address: '192.0.2.1' }))?.refusal).toBeUndefined();
    expect((await gate.judge({ address: '192.0.2.1' }))?.refusal?.status).toBe(429);
    expect(store.size).toBe(1);
  });

  it('K-11 and without an address either, noAddress says', () => {
    expect(() => openKeyed().gate.judge({})).toThrow(/^key must be given, or noAddress chosen/);
    expect(openKeyed({ noAddress: 'share' }).statusOf({})).toBe(200);
  });

  it('K-11 deny: no wait is told and the store is not asked', () => {
    const { gate, store } = openKeyed({ name: 'tenant', missingKey: 'deny', cost: () => 1 });
    const { decision, headers, refusal } = gate.judge({ address: '192.0.2.1' }) as Verdict;
    expect({ decision, headers }).toEqual({ decision: undefined, headers: NO_HEADERS });
    expect(refusal).toMatchObject({
      status: 429,
      headers: [
        ['Content-Type', 'application/problem+json'],
        ['Cache-Control', 'no-store'],
      ],
    });
    expect(JSON.parse(String(refusal?.body))).toMatchObject({
      detail: 'This request does not say whom it is to be charged to.',
      'violated-policies': ['tenant'],
    });
    expect(store.size).toBe(0);
  });

  it('K-11 skip: the request passes without a verdict', () => {
    const { gate, store } = openKeyed({ missingKey: 'skip' });
    expect(gate.judge({ address: '192.0.2.1' })).toBeUndefined();
    expect(store.size).toBe(0);
  });

  it('a policy that only watches denies nobody for the want of a key', () => {
    const { gate } = openKeyed({ missingKey: 'deny', shadow: true });
    expect(gate.judge({})).toBeUndefined();
  });
});

describe('keys of several policies', () => {
  const policies = { tenant: ONE_A_MINUTE, search: { limit: 2, window: '60s' } };

  it('each goes by its own missingKey, address where none is said', () => {
    const { gate, store } = openLimiter(policies, { missingKey: { tenant: 'skip' } });
    const key = { tenant: undefined, search: null };
    const policiesAsked = [1, 2, 3].map(() => {
      const verdict = gate.judge({ key, address: '192.0.2.1' }) as Verdict;
      return [verdict.decision?.policy, verdict.decision?.allowed];
    });
    expect(policiesAsked).toEqual([
      ['search', true],
      ['search', true],
      ['search', false],
    ]);
    expect(store.size).toBe(1);
  });

  it('one that denies does so before any is charged', () => {
    const { gate, store } = openLimiter(policies, { missingKey: { search: 'deny' } });
    const verdict = gate.judge({ key: { tenant: 't', search: '' } }) as Verdict;
    expect(JSON.parse(bodyOf(verdict))).toMatchObject({
      'violated-policies': ['search'],
    });
    expect(store.size).toBe(0);
  });

  it.each([
    [{}, 'keys must be'],
    [null, 'keys must be an object'],
    ['t42', 'keys must be an object'],
    [{ tennant: 't42' }, 'keys names the policy "tennant"'],
    [{ tennant: undefined }, 'keys names the policy "tennant"'],
  ])('%o is an error', (key, message) => {
    const { gate } = openLimiter(policies);
    expect(() => gate.judge({ key, address: '192.0.2.1' })).toThrow(message);
  });

  it('so is one that is still to come, whose failure then harms nobody', async () => {
    const { gate } = openLimiter(policies);
    const key = { tenant: Promise.reject(new Error('no tenant')) };
    expect(() => gate.judge({ key })).toThrow('keys.tenant must be a text, not a promise');
  });
});

describe('options', () => {
  it.each<[object, string]>([
    [{ missingKey: 'ignore' }, 'missingKey must be one of "address", "deny", "skip", got "ignore"'],
    [{ missingKey: 1 }, 'missingKey must be one of "address", "deny", "skip", got 1'],
    [{ missingKey: { default: 'no' } }, 'missingKey.default must be one of "address", "deny"'],
    [{ missingKey: { tenant: 'deny' } }, 'missingKey must be by names of policies ("default"), go'],
    [{ noAddress: 'address' }, 'noAddress must be one of "error", "deny", "skip", "share", got "a'],
    [{ ipv6Prefix: 129 }, 'ipv6Prefix must be an integer from 32 to 128, got 129'],
    [{ cost: { tenant: 1 } }, 'cost must be by names of policies ("default"), got "tenant"'],
    [{ cost: { default: -1 } }, 'cost.default must be an integer of at least 0, got -1'],
    [{ policies: {} }, 'policies must be a function of the request, got an object'],
  ])('%o is refused', (options, message) => {
    expect(() => openKeyed(options)).toThrow(message);
  });

  it('missingKey means nothing without key', () => {
    const missingKey: MissingKey = 'deny';
    expect(() => open({ missingKey })).toThrow('missingKey must be left out where there is no key');
  });

  it('what is refused leaves the names of its policies free', () => {
    const store = memoryStore();
    expect(() => openKeyed({ store, limit: 1, cost: -1 })).toThrow('cost');
    expect(openKeyed({ store, limit: 2 }).statusOf({ key: 'k' })).toBe(200);
  });
});
