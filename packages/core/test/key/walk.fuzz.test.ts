import { createRequire } from 'node:module';
import { BlockList } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clientIp } from '../../src/http/client-address.js';
import { canonicalHost } from '../../src/key/host.js';
import { Networks } from '../../src/key/networks.js';
import { fuzzRuns } from '../support/fuzz.js';

type ProxyAddr = (request: object, trust: unknown) => string | undefined;
const proxyAddr = createRequire(import.meta.url)('proxy-addr') as ProxyAddr;

// Of strangers and counts that are too high: the chains are random.
beforeEach(() => void vi.spyOn(process, 'emitWarning').mockReturnValue(undefined));
afterEach(() => void vi.mocked(process.emitWarning).mockRestore());

/** Few enough that networks and hosts often meet. */
const ipv4 = fc.oneof(
  fc.ipV4(),
  fc
    .tuple(fc.constantFrom('10.0', '192.168', '127.0'), fc.nat(3), fc.nat(255))
    .map((a) => a.join('.')),
);
const ipv6 = fc.oneof(
  // Not all spellings are known to proxy-addr.
  fc.ipV6().map((address) => canonicalHost(address) as string),
  fc.tuple(fc.constantFrom('2001:db8', 'fc00', 'fe80'), fc.nat(3)).map(([a, b]) => `${a}::${b}`),
);
const mapped = ipv4.map((address) => `::ffff:${address}`);
const host = fc.oneof(ipv4, ipv6, mapped);
const network = fc.oneof(
  host,
  fc.tuple(ipv4, fc.integer({ min: 1, max: 32 })).map((parts) => parts.join('/')),
  fc
    .tuple(ipv6, fc.integer({ min: 1, max: 128 }))
    .filter(([address]) => address.includes(':'))
    .map((parts) => parts.join('/')),
  fc.constantFrom('loopback', 'linklocal', 'uniquelocal'),
);
const garbage = fc
  .string({ unit: fc.constantFrom(...'0189af.:[]%-_ un'), maxLength: 20 })
  // To proxy-addr `0` and `10.1` are addresses of IPv4, as they were to the first programs that read any.
  .filter((text) => !/^[0-9a-f.\s]*$/.test(text));
const member = fc.oneof({ weight: 8, arbitrary: host }, garbage, fc.constant(''));
const chain = fc.array(member, { maxLength: 8 }).map((members) => members.join(','));

function ask(peer: string, headers: Record<string, string>) {
  return { headers, socket: { remoteAddress: peer } };
}

/** What is no address to us has no client address; proxy-addr gives it as it is written. */
function sameAs(theirs: string | undefined): string | undefined {
  return canonicalHost(theirs?.trim() ?? '');
}

describe('networks, beside what Node says', () => {
  it('they have the hosts that a BlockList has', () => {
    fc.assert(
      fc.property(fc.array(network, { maxLength: 4 }), host, (list, address) => {
        // One for each family: of one for both, `::/1` has IPv4 too.
        const theirs = { ipv4: new BlockList(), ipv6: new BlockList() };
        for (const one of list.flatMap((name) => RANGES[name] ?? [name])) {
          const [base = '', bits] = one.split('/');
          const known = canonicalHost(base) as string;
          const isIpv4 = !known.includes(':');
          const family = isIpv4 ? 'ipv4' : 'ipv6';
          theirs[family].addSubnet(known, Number(bits ?? (isIpv4 ? 32 : 128)), family);
        }
        const known = canonicalHost(address) as string;
        const family = known.includes(':') ? 'ipv6' : 'ipv4';
        const has = theirs[family].check(known, family);
        const ours = new Networks('list', list);
        expect(ours.has(address)).toBe(has);
        expect(ours.has(address)).toBe(has);
      }),
      fuzzRuns(),
    );
  });

  it('they have everybody exactly where no address is left out', () => {
    const halves = fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 16 });
    fc.assert(
      fc.property(halves, (eighths) => {
        const list = eighths.map((n) => `${n * 32}.0.0.0/3`);
        expect(new Networks('list', list).haveEverybody).toBe(new Set(eighths).size === 8);
      }),
      fuzzRuns(),
    );
  });
});

describe('the walk through X-Forwarded-For, beside proxy-addr', () => {
  it('by a list it ends at the same hop', () => {
    fc.assert(
      fc.property(fc.array(network, { minLength: 1, maxLength: 4 }), host, chain, (list, ...of) => {
        const request = ask(of[0], { 'x-forwarded-for': of[1] });
        expect(clientIp({ trustedProxies: list })(request)).toBe(sameAs(proxyAddr(request, list)));
      }),
      fuzzRuns(),
    );
  });

  it('by a count it ends at the same hop', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), host, chain, (count, peer, header) => {
        const request = ask(peer, { 'x-forwarded-for': header });
        const theirs = proxyAddr(request, (_: string, index: number) => index < count);
        expect(clientIp({ trustedProxies: count })(request)).toBe(sameAs(theirs));
      }),
      fuzzRuns(),
    );
  });
});

describe('what a client writes in front', () => {
  const written = fc.string({
    unit: fc.constantFrom(...'for="\\,;[]: \t=a1.%_'),
    maxLength: 30,
  });
  const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
  const names = fc.constantFrom('for', 'For', 'FOR');
  const others = fc.constantFrom(
    ';proto=https',
    ';by="_x,y"',
    ';host="a\\"b\\\\"',
    ' ; x="for=\\"1.1.1.1\\""',
    '',
  );
  /** A member as a proxy writes it. */
  const element = fc.tuple(names, others, others).chain(([name, before, after]) =>
    fc.constant((address: string) => {
      const node = quoted(address.includes(':') ? `[${address}]:4711` : address);
      return `${before.replace(/^ ?; ?/, '')}${before && ';'}${name}=${node}${after}`;
    }),
  );

  it('changes nothing in X-Forwarded-For, by a list or a count', () => {
    fc.assert(
      fc.property(written, ipv4, fc.integer({ min: 1, max: 5 }), (front, client, proxies) => {
        const hops = [client, ...Array.from({ length: proxies - 1 }, (_, i) => `10.0.0.${i}`)];
        const request = ask('10.1.1.1', { 'x-forwarded-for': [front, ...hops].join(', ') });
        for (const trustedProxies of [['10.0.0.0/8'], proxies]) {
          fc.pre(typeof trustedProxies === 'number' || !client.startsWith('10.'));
          expect(clientIp({ trustedProxies })(request)).toBe(client);
        }
      }),
      fuzzRuns(),
    );
  });

  it('changes nothing in Forwarded, whatever quotes it leaves open', () => {
    fc.assert(
      fc.property(
        written,
        host,
        fc.array(element, { minLength: 1, maxLength: 4 }),
        (front, ...of) => {
          const [client, elements] = of;
          const list = ['203.0.113.0/24'];
          fc.pre(!new Networks('list', list).has(client));
          const hops = elements.map((write, i) => write(i === 0 ? client : `203.0.113.${i}`));
          const request = ask('203.0.113.9', { forwarded: [front, ...hops].join(', ') });
          const find = clientIp({ trustedProxies: list, forwardedBy: 'forwarded' });
          expect(find(request)).toBe(canonicalHost(client));
        },
      ),
      fuzzRuns(),
    );
  });

  it('never throws, whatever all of it is', () => {
    fc.assert(
      fc.property(written, written, (front, back) => {
        const find = clientIp({ trustedProxies: ['loopback'], forwardedBy: 'forwarded' });
        const found = find(ask('127.0.0.1', { forwarded: `${front},${back}` }));
        if (found !== undefined) expect(canonicalHost(found)).toBe(found);
      }),
      fuzzRuns(),
    );
  });
});

const RANGES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};
