import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressKey } from '../../src/key/address-key.js';
import { fuzzRuns } from '../support/fuzz.js';

const ipv4 = fc.ipV4();
const port = fc.integer({ min: 0, max: 65_535 });
const prefix = fc.integer({ min: 32, max: 128 });
const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
  minLength: 8,
  maxLength: 8,
});

/** An IPv6 address in one of its many spellings. */
const ipv6 = fc
  .record({ groups, cut: fc.nat({ max: 8 }), long: fc.boolean(), upper: fc.boolean() })
  .map(({ groups, cut, long, upper }) => {
    const hex = groups.map((group) => group.toString(16).padStart(long ? 4 : 1, '0'));
    let end = cut;
    while (groups[end] === 0) end++;
    const text =
      end > cut ? `${hex.slice(0, cut).join(':')}::${hex.slice(end).join(':')}` : hex.join(':');
    return upper ? text.toUpperCase() : text;
  });

/** Texts that are nearly addresses. */
const nearly = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF:.%[]g/ '), maxLength: 45 }),
  fc
    .tuple(fc.oneof(ipv4, ipv6), fc.nat({ max: 45 }), fc.constantFrom('', ':', '.', '0', '::', '%'))
    .map(([text, at, put]) => text.slice(0, at) + put + text.slice(at + 1)),
);

/** The rest of a text without what `addressKey` drops, by other means. */
function bare(text: string): string {
  const inBrackets = /^\[([^[\]]*:[^[\]]*)\](?::(\d{1,5}))?$/.exec(text);
  const withPort = /^([^:]*):(\d{1,5})$/.exec(text);
  const found = inBrackets ?? withPort;
  return found === null || Number(found[2] ?? 0) > 65_535 ? text : (found[1] as string);
}

/** Whether the text is an address, in Node's eyes. Of a zone, Node allows not all characters. */
function isAddress(text: string): boolean {
  const host = bare(text);
  if (text.startsWith('[')) return host !== text && isIPv6(host.replace(/%.+$/s, ''));
  return isIPv4(host) || (host === text && isIPv6(host.replace(/%.+$/s, '')));
}

describe('addressKey, beside what Node says', () => {
  it('is there exactly where Node sees an address', () => {
    fc.assert(
      fc.property(fc.oneof(nearly, ipv4, ipv6), (text) => {
        expect(addressKey(text) !== undefined).toBe(isAddress(text));
      }),
      fuzzRuns(),
    );
  });

  it('IPv4 stays as it is, with or without a port', () => {
    fc.assert(
      fc.property(ipv4, port, (address, port) => {
        expect(addressKey(address)).toBe(address);
        expect(addressKey(`${address}:${port}`)).toBe(address);
        expect(addressKey(`::ffff:${address}`)).toBe(address);
        expect(addressKey(`64:ff9b::${address}`)).toBe(address);
      }),
      fuzzRuns(),
    );
  });

  it('IPv6: the network has the address, is canonical and all its spellings are one', () => {
    fc.assert(
      fc.property(ipv6, port, prefix, (address, port, ipv6Prefix) => {
        const key = addressKey(address, { ipv6Prefix }) as string;
        for (const spelling of [
          `[${address}]`,
          `[${address}]:${port}`,
          `${address}%eth0.100`,
          new URL(`http://[${address}]`).hostname,
        ]) {
          expect(addressKey(spelling, { ipv6Prefix })).toBe(key);
        }
        const [network = '', bits] = key.split('/');
        if (isIP(key) === 4) return;
        expect(Number(bits)).toBe(ipv6Prefix);
        // The URL standard writes addresses as RFC 5952 does.
        expect(new URL(`http://[${network}]`).hostname).toBe(`[${network}]`);
        const list = new BlockList();
        list.addSubnet(network, ipv6Prefix, 'ipv6');
        expect(list.check(address, 'ipv6')).toBe(true);
      }),
      fuzzRuns(),
    );
  });

  it('two IPv6 addresses are one client exactly where they are in one network', () => {
    const near = fc.tuple(groups, fc.nat({ max: 127 }), fc.boolean()).map(([a, bit, flip]) => {
      const b = [...a];
      if (flip) b[bit >> 4] = (b[bit >> 4] as number) ^ (0x8000 >> (bit & 15));
      return [a, b].map((each) => each.map((group) => group.toString(16)).join(':'));
    });
    fc.assert(
      fc.property(near, prefix, ([a = '', b = ''], ipv6Prefix) => {
        const [keyOfA, keyOfB] = [a, b].map((each) => addressKey(each, { ipv6Prefix }));
        fc.pre(isIPv6(keyOfA?.split('/')[0] ?? '') && isIPv6(keyOfB?.split('/')[0] ?? ''));
        const list = new BlockList();
        list.addSubnet(a, ipv6Prefix, 'ipv6');
        expect(keyOfA === keyOfB).toBe(list.check(b, 'ipv6'));
      }),
      fuzzRuns(),
    );
  });

  it('what it gives is a fixed point: the network of a network is itself', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), prefix, (address, ipv6Prefix) => {
        const key = addressKey(address, { ipv6Prefix }) as string;
        expect(addressKey(key.split('/')[0], { ipv6Prefix })).toBe(key);
      }),
      fuzzRuns(),
    );
  });
});
