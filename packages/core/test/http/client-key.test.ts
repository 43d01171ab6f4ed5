import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest';
import type { ProxyTrust } from '../../src/http/client-key.js';
import { Gate } from '../../src/http/gate.js';
import type { RateLimitOptions } from '../../src/http/options.js';
import { readerOf } from './gates.js';
import { forgetWarnings } from './warnings.js';

interface Request {
  readonly forwarded?: boolean;
}

let warned: Mock<typeof process.emitWarning>;
beforeEach(() => {
  forgetWarnings();
  warned = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
});
afterEach(() => void warned.mockRestore());

/** A gate behind a framework that trusts so, and the codes of what was warned of. */
function open(trust: ProxyTrust, options: object = {}) {
  const trustOf = vi.fn(() => trust);
  const isForwarded = vi.fn(({ forwarded = false }: Request) => forwarded);
  const all = { limit: 100, window: '1m', ...options } as RateLimitOptions<Request>;
  const gate = new Gate<Request>(
    all,
    readerOf(() => '192.0.2.1', { trustOf, isForwarded, advice: 'do it' }),
  );
  const codes = () =>
    warned.mock.calls.map(([, details]: unknown[]) => (details as { code: string }).code);
  return { gate, trustOf, isForwarded, codes };
}

describe('proxies', () => {
  it.each([
    ['anybody', 'RL_PROXY_TRUSTS_ANYBODY', /^every client can choose .*: do it$/],
    ['count-ignored', 'RL_PROXY_COUNT_IGNORED', /^clients behind a proxy share .*: do it$/],
  ] as const)(
    'K-04 trust in %s is warned of at the first request, once',
    (trust, code, message) => {
      const { gate, trustOf, codes } = open(trust);
      expect(codes()).toEqual([]);
      for (let i = 0; i < 3; i++) gate.judge({});
      expect(codes()).toEqual([code]);
      expect(warned.mock.calls[0]?.[0]).toMatch(message);
      expect(trustOf).toHaveBeenCalledTimes(1);
      open(trust).gate.judge({});
      expect(codes()).toEqual([code]);
    },
  );

  it('K-05 a header that nobody believes is warned of when the first comes', () => {
    const { gate, isForwarded, codes } = open('nobody');
    gate.judge({});
    expect(codes()).toEqual([]);
    for (let i = 0; i < 3; i++) gate.judge({ forwarded: true });
    expect(codes()).toEqual(['RL_PROXY_NOT_TRUSTED']);
    expect(warned.mock.calls[0]?.[0]).toMatch(/^a request has X-Forwarded-For .*; do it$/);
    expect(isForwarded).toHaveBeenCalledTimes(2);
  });

  it('trust in named proxies is as it should be', () => {
    const { gate, trustOf, codes } = open('named');
    for (let i = 0; i < 3; i++) gate.judge({ forwarded: true });
    expect(codes()).toEqual([]);
    expect(trustOf).toHaveBeenCalledTimes(1);
  });

  it('with a key of the app addresses do not matter, until one is charged', () => {
    const keys = ['k', undefined];
    const { gate, codes } = open('anybody', { key: () => keys.shift() });
    gate.judge({});
    expect(codes()).toEqual([]);
    gate.judge({});
    expect(codes()).toEqual(['RL_PROXY_TRUSTS_ANYBODY']);
  });
});
