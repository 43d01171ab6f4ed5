import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ask, askInTurn, askMany, type Question } from './client.js';
import { type Framework, has, type Target } from './framework.js';
import { STORE_KINDS, useStores } from './stores.js';
import { useApp } from './use-app.js';
import { useWarnings } from './use-warnings.js';

/** A request as a proxy passes it on, or as a client writes it that is its own proxy. */
function from(...lines: string[]): Question {
  return { headers: { 'x-forwarded-for': lines } };
}

async function askFrom(app: Target, ...addresses: string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const address of addresses) statuses.push((await ask(app, from(address))).status);
  return statuses;
}

/** Whom a request is charged to where the app does not say: the framework's own client address. */
export function describeAddress(framework: Framework): void {
  describe('the client address as the key', () => {
    const start = useApp(framework);
    const warnings = useWarnings();

    describe.each(STORE_KINDS)('in a %s store', (kind) => {
      const stores = useStores(kind);

      test('K-01 it is the same with a port, with brackets and without', async () => {
        const { store, countBuckets } = stores.frozen();
        const limiters = [{ store, limit: 1, window: '60s', ipv6Prefix: 128 }];
        const app = await start({ limiters, trust: 'one' });
        expect(await askFrom(app, '203.0.113.7:49152', '203.0.113.7:49153')).toEqual([200, 429]);
        expect(await askFrom(app, '[2001:db8::1]:443', '2001:db8::1')).toEqual([200, 429]);
        // Nothing is cut from it that looks like a port.
        expect(await askFrom(app, '2001:db8::2', '2001:db8::1:443')).toEqual([200, 200]);
        expect(await countBuckets()).toBe(4);
      });

      test('K-02 all addresses of an IPv6 network are one client', async () => {
        const { store, countBuckets } = stores.frozen();
        const limiters = [{ store, limit: 10, window: '60s', ipv6Prefix: 64 }];
        const app = await start({ limiters, trust: 'one' });
        const addresses = Array.from({ length: 1000 }, (_, i) =>
          from(`2001:db8:1:2::${hex(i + 1)}`),
        );
        expect(await askMany(app, addresses)).toEqual({ 200: 10, 429: 990 });
        expect(await countBuckets()).toBe(1);
        expect(await askFrom(app, '2001:db8:1:3::1')).toEqual([200]);
        expect(await countBuckets()).toBe(2);
      });

      test('K-06 what is no address goes by noAddress, a zone id is no part of one', async () => {
        const { store, countBuckets } = stores.frozen();
        const limiters = [{ store, limit: 1, window: '60s', noAddress: 'deny' } as const];
        const app = await start({ limiters, trust: 'one' });
        expect(await askFrom(app, 'fe80::1%eth0', 'fe80::1%eth0')).toEqual([200, 429]);
        expect(await askFrom(app, 'fe80::1%eth0.100')).toEqual([429]);
        expect(warnings()).toEqual([]);
        expect(await askFrom(app, '1.2.3.4.5', 'not-an-ip')).toEqual([429, 429]);
        expect(await countBuckets()).toBe(1);
        expect(warnings()).toEqual(['RL_NO_ADDRESS']);
      });
    });

    test.each([
      ['one line', (n: number) => from(`192.0.2.${n}, 198.51.100.9`)],
      ['two', (n: number) => from(`192.0.2.${n}`, '198.51.100.9')],
    ])('K-04 a client cannot choose by what it writes in front, on %s', async (_, question) => {
      const app = await start({ limiters: [{ limit: 5, window: '1h' }], trust: 'one' });
      const questions = Array.from({ length: 20 }, (_, i) => question(i + 1));
      expect(await askMany(app, questions)).toEqual({ 200: 5, 429: 15 });
      expect(warnings()).toEqual([]);
    });

    const seesProxies = has(framework, 'proxies');

    const warned = seesProxies ? 'is warned of, once' : 'is the business of the app';
    test(`K-04 a framework that believes anybody ${warned}`, async () => {
      const limiter = { limit: 1, window: '1h' };
      const limiters = [limiter, { ...limiter, name: 'other' }];
      const app = await start({ limiters, trust: 'anybody' });
      expect(warnings()).toEqual([]);
      await askFrom(app, '192.0.2.1', '192.0.2.2');
      expect(warnings()).toEqual(seesProxies ? ['RL_PROXY_TRUSTS_ANYBODY'] : []);
    });

    test('K-05 X-Forwarded-For is not believed where no proxy is trusted', async () => {
      const app = await start({ limiters: [{ limit: 5, window: '1h' }] });
      expect(await askInTurn(app, 1)).toEqual([200]);
      expect(warnings()).toEqual([]);
      const questions = Array.from({ length: 19 }, (_, i) => from(`192.0.2.${i + 1}`));
      expect(await askMany(app, questions)).toEqual({ 200: 4, 429: 15 });
      expect(warnings()).toEqual(seesProxies ? ['RL_PROXY_NOT_TRUSTED'] : []);
    });

    test('with a key of the app nothing is said about proxies', async () => {
      const limiters = [{ limit: 5, window: '1h', key: () => 'everybody' }];
      for (const trust of ['nobody', 'anybody'] as const) {
        await askFrom(await start({ limiters, trust }), '192.0.2.1');
      }
      expect(warnings()).toEqual([]);
    });

    test('behind a proxy that the framework trusts, each client has a bucket of its own', async () => {
      const app = await start({ limiters: [{ limit: 1, window: '1h' }], trust: 'one' });
      const statuses = await askFrom(app, '192.0.2.1', '192.0.2.2', '192.0.2.1', '2001:db8::1');
      expect(statuses).toEqual([200, 200, 429, 200]);
    });

    describeUnixSocket(start, warnings);
  });
}

/** Where requests have no address at all. */
function describeUnixSocket(
  start: ReturnType<typeof useApp>,
  warnings: ReturnType<typeof useWarnings>,
): void {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adapter-'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const socket = () => ({ socketPath: join(folder, 'app.sock') });

  test('K-06 a request without an address is an error that says what to do', async () => {
    const onError = vi.fn();
    const onHandled = vi.fn();
    const plan = { limiters: [{ limit: 1, window: '60s' }], onError, onHandled };
    const app = await start(plan, socket());
    expect(await askInTurn(app, 2)).toEqual([500, 500]);
    expect(onError).toHaveBeenCalledTimes(2);
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'RL_INVALID_VALUE', field: 'key' });
    expect(onHandled).not.toHaveBeenCalled();
    expect(warnings()).toEqual(['RL_NO_ADDRESS']);
  });

  test.each([
    ['deny', 'nobody', [429, 429]],
    ['skip', 'nobody', [200, 200]],
    ['share', 'nobody', [200, 429]],
    ['share', 'one', [200, 429]],
  ] as const)('K-06 noAddress %s, trusting %s', async (noAddress, trust, statuses) => {
    const onError = vi.fn();
    const limiters = [{ limit: 1, window: '1h', noAddress }];
    const app = await start({ limiters, trust, onError }, socket());
    expect(await askInTurn(app, 2)).toEqual(statuses);
    expect(onError).not.toHaveBeenCalled();
    expect(warnings()).toEqual(['RL_NO_ADDRESS']);
  });

  test('K-06 with a key, such requests are limited like others', async () => {
    const limiters = [{ limit: 1, window: '1h', key: () => 'everybody' }];
    const app = await start({ limiters }, socket());
    expect(await askInTurn(app, 2)).toEqual([200, 429]);
    expect(warnings()).toEqual([]);
  });
}

function hex(n: number): string {
  return n.toString(16);
}
