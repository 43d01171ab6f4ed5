import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest';
import { clientIp } from '../../src/http/client-address.js';
import type { ProxyOptions } from '../../src/http/proxy-options.js';
import { forgetWarnings } from './warnings.js';

let warned: Mock<typeof process.emitWarning>;
beforeEach(() => {
  forgetWarnings();
  warned = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
});
afterEach(() => void warned.mockRestore());

const codes = () =>
  warned.mock.calls.map(([, details]: unknown[]) => (details as { code: string }).code);

interface Asked {
  peer?: string | undefined;
  xff?: string | string[];
  forwarded?: string;
  socket?: object | null;
}

function ipOf(options: Parameters<typeof clientIp>[0], asked: Asked): string | undefined {
  const { peer = '10.0.0.1', xff, forwarded } = asked;
  const socket = 'socket' in asked ? asked.socket : { remoteAddress: peer };
  return clientIp(options)({ headers: { 'x-forwarded-for': xff, forwarded }, socket } as never);
}

const TEN = { trustedProxies: ['10.0.0.0/8'] };
const FORWARDED = { ...TEN, forwardedBy: 'forwarded' } as const;

describe('X-Forwarded-For', () => {
  it.each([
    ['one hop', '198.51.100.9', '198.51.100.9'],
    ['several lines that were not joined', ['192.0.2.1', '198.51.100.9, 10.2.0.1'], '198.51.100.9'],
    ['white space and empty members', ' 192.0.2.1 ,, \t198.51.100.9\t, ,10.0.0.2,', '198.51.100.9'],
    ['nothing but empty members', ' , ,,', '10.0.0.1'],
    ['hops that are all trusted: the leftmost', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['a proxy with a port', '198.51.100.9, 10.0.0.2:4711', '198.51.100.9'],
    ['a proxy as mapped IPv6', '198.51.100.9, ::ffff:a00:2', '198.51.100.9'],
    ['a proxy behind NAT64 is another address', '198.51.100.9, 64:ff9b::a00:2', '64:ff9b::a00:2'],
    ['a name', '198.51.100.9, proxy.example', undefined],
    ['an IPv4 address with a leading zero', '198.51.100.9, 010.0.0.2', undefined],
    ['a zone', 'fe80::1%eth0', 'fe80::1'],
  ])('%s', (_, xff, ip) => {
    expect(ipOf(TEN, { xff })).toBe(ip);
  });

  it.each([
    [1, '192.0.2.1, 198.51.100.9', '198.51.100.9'],
    [2, '192.0.2.1, 198.51.100.9, unknown', '198.51.100.9'],
    [3, '198.51.100.9', '198.51.100.9'],
    [1, undefined, '10.0.0.1'],
  ])('a count of %s, of %s', (trustedProxies, xff, ip) => {
    expect(ipOf({ trustedProxies }, xff === undefined ? {} : { xff })).toBe(ip);
  });

  it('reads 200 members, empty ones too, and none of more than 512 characters', () => {
    const hops = (count: number) => `198.51.100.9${', 10.0.0.2'.repeat(count)}`;
    expect(ipOf(TEN, { xff: hops(199) })).toBe('198.51.100.9');
    expect(ipOf(TEN, { xff: hops(200) })).toBeUndefined();
    expect(ipOf(TEN, { xff: `198.51.100.9${','.repeat(199)}` })).toBe('198.51.100.9');
    expect(ipOf(TEN, { xff: `198.51.100.9${','.repeat(200)}` })).toBeUndefined();
    expect(ipOf({ trustedProxies: 1 }, { xff: ','.repeat(300) })).toBeUndefined();
    expect(ipOf(TEN, { xff: `198.51.100.9${' '.repeat(500)}` })).toBe('198.51.100.9');
    expect(ipOf(TEN, { xff: `198.51.100.9${' '.repeat(501)}` })).toBeUndefined();
  });
});

describe('Forwarded', () => {
  it.each([
    ['for=198.51.100.9', '198.51.100.9'],
    ['FoR="198.51.100.9:4711"', '198.51.100.9'],
    ['for=198.51.100.9:4711', '198.51.100.9'],
    ['for="198.51.100.9:_hidden"', '198.51.100.9'],
    ['for="[2001:db8::1]:4711"', '2001:db8::1'],
    ['for="\\1\\9\\8.51.100.9"', '198.51.100.9'],
    ['proto=https;by=203.0.113.43;for=198.51.100.9', '198.51.100.9'],
    ['for=198.51.100.9 ; host="a;b,for=1.1.1.1" ;', '198.51.100.9'],
    ['host="\\\\";for=198.51.100.9;x="\\",for=1.1.1.1;\\""', '198.51.100.9'],
    ['for=198.51.100.9, , for=10.0.0.2,', '198.51.100.9'],
    // No address: the way ends there.
    ['for=198.51.100.9, for=unknown', undefined],
    ['for=198.51.100.9, for=_secret', undefined],
    ['for=198.51.100.9, proto=https', undefined],
    ['for=198.51.100.9, ;', undefined],
    ['for=198.51.100.9;for=198.51.100.10', undefined],
    ['for=198.51.100.9, for = 10.0.0.2', undefined],
    ['for=198.51.100.9, for=', undefined],
    ['for=198.51.100.9, for="10.0.0.2\\"', undefined],
    ['for=198.51.100.9, 10.0.0.2', undefined],
    ['for=198.51.100.9, for=10.0.0.2 proto=https', undefined],
    ['"', undefined],
    ['=', undefined],
  ])('%s', (forwarded, ip) => {
    expect(ipOf(FORWARDED, { forwarded })).toBe(ip);
  });

  it('reads members of 512 characters', () => {
    const element = (length: number) => `for=198.51.100.9;x=${'a'.repeat(length - 19)}`;
    expect(ipOf(FORWARDED, { forwarded: `,${element(512)}` })).toBe('198.51.100.9');
    expect(ipOf(FORWARDED, { forwarded: element(512) })).toBe('198.51.100.9');
    expect(ipOf(FORWARDED, { forwarded: element(513) })).toBeUndefined();
    expect(ipOf(FORWARDED, { forwarded: `,${element(513)}` })).toBeUndefined();
  });
});

describe('the peer', () => {
  const unix = { remoteAddress: undefined, localAddress: undefined, destroyed: false };
  const xff = '198.51.100.9';

  it('on a Unix socket is a hop that is counted, or listed by its name', () => {
    expect(ipOf({ trustedProxies: 1 }, { xff, socket: unix })).toBe(xff);
    expect(ipOf({ trustedProxies: ['unix'] }, { xff, socket: unix })).toBe(xff);
    expect(ipOf(TEN, { xff, socket: unix })).toBeUndefined();
    expect(ipOf({ trustedProxies: ['unix'] }, { xff })).toBe('10.0.0.1');
    // A text in the header is no socket.
    const both = { trustedProxies: ['unix', '10.0.0.0/8'] };
    expect(ipOf(both, { xff: `${xff}, unix, 10.0.0.2`, socket: unix })).toBeUndefined();
  });

  it.each([
    ['was reset', { ...unix, localAddress: '10.0.0.9' }],
    ['is destroyed', { ...unix, destroyed: true }],
    ['is missing', null],
  ])('of a connection that %s is not the one on the Unix socket', (_, socket) => {
    expect(ipOf({ trustedProxies: ['unix'] }, { xff, socket })).toBeUndefined();
  });
});

describe('lists', () => {
  it.each([
    ['', 'empty'],
    ['10.0.0', 'too few numbers'],
    ['10.0.0.0/', 'no length'],
    ['10.0.0.0/08', 'a leading zero'],
    ['10.0.0.0/-1', 'negative'],
    ['10.0.0.0/8/8', 'two lengths'],
    ['10.0.0.0/255.0.0.0', 'a netmask'],
    ['010.0.0.1', 'octal to some'],
    ['::/129', 'too long'],
    ['::ffff:10.0.0.0/95', 'neither family'],
    ['fe80::1%eth0', 'a zone'],
    ['10.0.0.1:80', 'a port'],
    ['[::1]', 'brackets'],
    [' 10.0.0.1', 'a space'],
    ['Loopback', 'another spelling'],
  ])('%j is refused: %s', (member) => {
    const trustedProxies = ['loopback', member];
    const error = expect.objectContaining({ field: 'trustedProxies[1]', code: 'RL_INVALID_VALUE' });
    expect(() => clientIp({ trustedProxies })).toThrow(error);
  });

  it('clientIp needs to be told of proxies', () => {
    expect(() => clientIp({} as never)).toThrow(/^trustedProxies must be a list .* got null$/);
  });
});

describe('warnings', () => {
  const ask = (options: ProxyOptions, asked: Asked) => void ipOf(options as typeof TEN, asked);

  it.each<[code: string, message: RegExp, options: ProxyOptions, asked: Asked]>([
    [
      'RL_PROXY_TRUSTS_ANYBODY',
      /trustedProxies contains every address: name .*alone$/,
      { trustedProxies: ['10.0.0.0/8', '0.0.0.0/0'] },
      {},
    ],
    ['RL_PROXY_TRUSTS_ANYBODY', /every address/, { trustedProxies: ['2000::/4', '3000::/4'] }, {}],
    [
      'RL_PROXY_NOT_TRUSTED',
      /"192\.0\.2\.1".*add it to the list$/,
      TEN,
      { peer: '192.0.2.1', xff: 'a' },
    ],
    [
      'RL_PROXY_HEADER_UNUSED',
      /has Forwarded and no X-Forwarded-For.*set forwardedBy to "forwarded"/,
      TEN,
      { forwarded: 'for=192.0.2.1' },
    ],
    [
      'RL_PROXY_HEADER_UNUSED',
      /has X-Forwarded-For and no Forwarded.*set forwardedBy to "x-forwarded-for"$/,
      FORWARDED,
      { xff: '192.0.2.1' },
    ],
    ['RL_PROXY_HEADER_UNUSED', /Forwarded/, { trustedProxies: 1 }, { forwarded: 'for=192.0.2.1' }],
    ['RL_PROXY_COUNT_TOO_HIGH', /through 1 where .* 2: count/, { trustedProxies: 2 }, { xff: 'a' }],
    ['RL_PROXY_COUNT_TOO_HIGH', /through 0 where .* 1: count/, { trustedProxies: 1 }, {}],
  ])('%s %s', (code, message, options, asked) => {
    ask(options, asked);
    expect(codes()).toEqual([code]);
    expect(warned.mock.calls[0]?.[0]).toMatch(message);
    ask(options, asked);
    expect(codes()).toEqual([code]);
  });

  it.each<[why: string, options: ProxyOptions, asked: Asked]>([
    ['a header that is not read beside the one that is', TEN, { xff: '192.0.2.1', forwarded: 'x' }],
    ['a header of a stranger that nobody reads', TEN, { peer: '192.0.2.1', forwarded: 'x' }],
    ['a trusted peer that says nothing, such as a health check', TEN, {}],
    ['wide lists that leave somebody out', { trustedProxies: ['0.0.0.0/1', '::/3'] }, {}],
  ])('nothing is said of %s', (_, options, asked) => {
    ask(options, asked);
    expect(codes()).toEqual([]);
  });
});
