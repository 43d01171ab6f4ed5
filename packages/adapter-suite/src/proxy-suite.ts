import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, askInTurn, askMany, type Question } from './client.js';
import type { AnyOptions, Framework, Target } from './framework.js';
import { STORE_KINDS, useStores } from './stores.js';
import { useApp } from './use-app.js';
import { useWarnings } from './use-warnings.js';

const LIMIT = { limit: 1, window: '1h' } as const;

function from(...lines: string[]): Question {
  return { headers: { 'x-forwarded-for': lines } };
}

function by(...lines: string[]): Question {
  // Node's types know of one line.
  return { headers: { forwarded: lines as unknown as string } };
}

async function statusesOf(app: Target, questions: readonly Question[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const question of questions) statuses.push((await ask(app, question)).status);
  return statuses;
}

/** Options that cannot be used: the field at fault, and its value as errors show it. */
const REFUSED: readonly [field: string, shown: string, options: object][] = [
  ['trustedProxies', 'true', { trustedProxies: true }],
  ['trustedProxies', '"loopback"', { trustedProxies: 'loopback' }],
  ['trustedProxies', '0', { trustedProxies: 0 }],
  ['trustedProxies', '1.5', { trustedProxies: 1.5 }],
  ['trustedProxies[1]', '"10.0.0.0/33"', { trustedProxies: ['loopback', '10.0.0.0/33'] }],
  ['trustedProxies[0]', '"proxy.example"', { trustedProxies: ['proxy.example'] }],
  ['trustedProxies[0]', '7', { trustedProxies: [7] }],
  ['forwardedBy', '"x-real-ip"', { trustedProxies: ['loopback'], forwardedBy: 'x-real-ip' }],
  ['forwardedBy', '"forwarded"', { trustedProxies: 1, forwardedBy: 'forwarded' }],
  ['forwardedBy', '"forwarded"', { forwardedBy: 'forwarded' }],
];

/**
 * The client's address as `trustedProxies` has it: the framework believes anybody here, which must not
 * matter.
 */
export function describeProxies(framework: Framework): void {
  describe('trusted proxies', () => {
    const listen = useApp(framework);
    const warnings = useWarnings();
    const start = (limiter: AnyOptions, ...rest: [socket?: { socketPath: string }]) =>
      listen({ limiters: [limiter], trust: 'anybody' }, ...rest);

    describe.each(STORE_KINDS)('in a %s store', (kind) => {
      const stores = useStores(kind);

      test.each([
        ['one counted, on one line', 1, (n: number) => from(`192.0.2.${n}, 198.51.100.9`)],
        ['one counted, on two', 1, (n: number) => from(`192.0.2.${n}`, '198.51.100.9')],
        ['one listed', ['127.0.0.1'], (n: number) => from(`192.0.2.${n}`, '198.51.100.9')],
      ] as const)(
        'K-04 what a client writes in front is nothing: %s',
        async (_, trusted, write) => {
          const { store, countBuckets } = stores.frozen();
          const trustedProxies = trusted as readonly string[] | number;
          const app = await start({ store, limit: 5, window: '60s', trustedProxies });
          const questions = Array.from({ length: 20 }, (_, i) => write(i + 1));
          expect(await askMany(app, questions)).toEqual({ 200: 5, 429: 15 });
          expect(await countBuckets()).toBe(1);
          expect(await statusesOf(app, [from('198.51.100.10')])).toEqual([200]);
          expect(warnings()).toEqual([]);
        },
      );

      test('K-01 an address is the same with a port, with brackets and without', async () => {
        const { store, countBuckets } = stores.frozen();
        const trustedProxies = ['loopback'];
        const app = await start({ store, ...LIMIT, ipv6Prefix: 128, trustedProxies });
        const two = (a: string, b: string) => statusesOf(app, [from(a), from(b)]);
        expect(await two('203.0.113.7:49152', '203.0.113.7:49153')).toEqual([200, 429]);
        expect(await two('[2001:db8::1]:443', '2001:db8::1')).toEqual([200, 429]);
        expect(await two('2001:db8::2', '2001:db8::1:443')).toEqual([200, 200]);
        expect(await two('::ffff:203.0.113.8', '203.0.113.8')).toEqual([200, 429]);
        expect(await countBuckets()).toBe(5);
      });

      test('Forwarded is read from its right, whatever quotes a client leaves open', async () => {
        const { store, countBuckets } = stores.frozen();
        const forwardedBy = 'forwarded';
        const app = await start({ store, ...LIMIT, trustedProxies: ['loopback'], forwardedBy });
        const statuses = await statusesOf(app, [
          by('for=192.0.2.1, FOR="203.0.113.7:4711";proto=https'),
          by('for="', 'proto=https;for=203.0.113.7'),
          by('for="\\", for=203.0.113.7;host="a,\\"b"'),
          by('for="[2001:db8::1]:4711", for=127.0.0.1'),
          by('For="[2001:db8::1]"'),
        ]);
        expect(statuses).toEqual([200, 429, 429, 200, 429]);
        expect(await countBuckets()).toBe(2);
        expect(warnings()).toEqual([]);
      });

      test('K-06 what is no address ends the way, by noAddress', async () => {
        const { store, countBuckets } = stores.frozen();
        const limiter = {
          store,
          ...LIMIT,
          trustedProxies: ['loopback'],
          noAddress: 'deny',
        } as const;
        const nowhere = ['unknown', '1.2.3.4.5', 'not-an-ip', '192.0.2.1, unknown, 127.0.0.1'];
        const app = await start(limiter);
        expect(
          await statusesOf(
            app,
            nowhere.map((text) => from(text)),
          ),
        ).toEqual(nowhere.map(() => 429));
        const other = await start({ ...limiter, forwardedBy: 'forwarded' });
        const hidden = ['for=unknown', 'for=_hidden', 'for=192.0.2.1, proto=https', 'for="'];
        expect(
          await statusesOf(
            other,
            hidden.map((text) => by(text)),
          ),
        ).toEqual(hidden.map(() => 429));
        expect(await countBuckets()).toBe(0);
        expect(warnings()).toEqual(['RL_NO_ADDRESS']);
      });
    });

    test('K-05 from a peer that is not listed, the header is not believed', async () => {
      const app = await start({ limit: 5, window: '1h', trustedProxies: ['10.0.0.0/8'] });
      const questions = Array.from({ length: 20 }, (_, i) => from(`192.0.2.${i + 1}`));
      expect(await askMany(app, questions)).toEqual({ 200: 5, 429: 15 });
      expect(warnings()).toEqual(['RL_PROXY_NOT_TRUSTED']);
    });

    test('a list of nobody takes the peer, a list of everybody is warned of', async () => {
      const nobody = await start({ ...LIMIT, trustedProxies: [] });
      expect(await statusesOf(nobody, [{}, from('192.0.2.1')])).toEqual([200, 429]);
      expect(warnings()).toEqual(['RL_PROXY_NOT_TRUSTED']);
      await start({ ...LIMIT, trustedProxies: ['0.0.0.0/1', '128.0.0.0/1'] });
      expect(warnings()).toEqual(['RL_PROXY_NOT_TRUSTED', 'RL_PROXY_TRUSTS_ANYBODY']);
    });

    test('fewer proxies than counted, and a header that is not read, are warned of', async () => {
      const counted = await start({ ...LIMIT, trustedProxies: 2 });
      expect(await statusesOf(counted, [from('192.0.2.1, 10.0.0.1')])).toEqual([200]);
      expect(warnings()).toEqual([]);
      expect(await statusesOf(counted, [from('192.0.2.1')])).toEqual([429]);
      expect(warnings()).toEqual(['RL_PROXY_COUNT_TOO_HIGH']);
      const listed = await start({ ...LIMIT, trustedProxies: ['loopback'] });
      expect(await statusesOf(listed, [by('for=192.0.2.1')])).toEqual([200]);
      expect(warnings()).toEqual(['RL_PROXY_COUNT_TOO_HIGH', 'RL_PROXY_HEADER_UNUSED']);
    });

    test.each(REFUSED)('%s %s is refused before the first request', async (field, shown, bad) => {
      const refused = await start({ ...LIMIT, ...bad } as AnyOptions).catch((error) => error);
      expect(refused).toMatchObject({ field });
      expect(refused.message.startsWith(`${field} must be `)).toBe(true);
      expect(refused.message).toContain(`got ${shown}`);
    });

    describe('on a Unix socket', () => {
      let folder: string;
      beforeEach(async () => {
        folder = await mkdtemp(join(tmpdir(), 'adapter-'));
      });
      afterEach(() => rm(folder, { recursive: true }));

      test.each([
        ['counted', 1],
        ['listed', ['unix']],
      ])('K-06 the proxy on it is believed where it is %s', async (_, trustedProxies) => {
        const socketPath = join(folder, 'app.sock');
        const app = await start({ ...LIMIT, trustedProxies }, { socketPath });
        const questions = ['192.0.2.1', '192.0.2.2', '192.0.2.3, 192.0.2.1'].map((a) => from(a));
        expect(await statusesOf(app, questions)).toEqual([200, 200, 429]);
        expect(warnings()).toEqual([]);
      });

      test('K-06 without that there is no address', async () => {
        const socketPath = join(folder, 'app.sock');
        const limiter = { ...LIMIT, trustedProxies: ['loopback'], noAddress: 'share' } as const;
        const app = await start(limiter, { socketPath });
        expect(await askInTurn(app, 2, from('192.0.2.1'))).toEqual([200, 429]);
        expect(warnings()).toEqual(['RL_PROXY_NOT_TRUSTED', 'RL_NO_ADDRESS']);
      });
    });
  });
}
