import { describe, expect, it } from 'vitest';
import { addressKey } from '../../src/key/address-key.js';

describe('addressKey', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['0.0.0.0', '0.0.0.0'],
    // K-01: with the port of the connection, as some proxies write it.
    ['203.0.113.7:49152', '203.0.113.7'],
    ['203.0.113.7:49153', '203.0.113.7'],
    ['[2001:db8::1]:443', '2001:db8::/56'],
    ['[2001:db8::1]', '2001:db8::/56'],
    ['2001:db8::1', '2001:db8::/56'],
    ['2001:DB8:ABCD:12FF:0:0:0:1', '2001:db8:abcd:1200::/56'],
    ['::1', '::/56'],
    ['::', '::/56'],
    // IPv4 in the clothes of IPv6.
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:102:304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
    ['[::ffff:1.2.3.4]:80', '1.2.3.4'],
    ['64:ff9b::1.2.3.4', '1.2.3.4'],
    ['64:ff9b::102:304', '1.2.3.4'],
    // Others that only look like it: networks like any other.
    ['::1.2.3.4', '::/56'],
    ['::ffff:0:1.2.3.4', '::/56'],
    ['64:ff9b:1::1.2.3.4', '64:ff9b:1::/56'],
    ['2002:102:304:5678::1', '2002:102:304:5600::/56'],
    // K-06: the interface is this host's own name for a link.
    ['fe80::1%eth0', 'fe80::/56'],
    ['fe80::1%eth0.100', 'fe80::/56'],
    ['[fe80::1%25eth0]:443', 'fe80::/56'],
    ['::ffff:1.2.3.4%eth0', '1.2.3.4'],
  ])('%s is %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });

  it.each([
    undefined,
    '',
    ' ',
    'unknown',
    'not-an-ip',
    'localhost',
    '_hidden',
    '1.2.3.4.5',
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.4:',
    '1.2.3.4:65536',
    '1.2.3.4:http',
    '1.2.3.4/24',
    '1.2.3.4%eth0',
    '[1.2.3.4]',
    '[1.2.3.4]:80',
    '2001:db8::1]:443',
    '[2001:db8::1',
    '[2001:db8::1]443',
    '[]',
    '[]:80',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '12345::',
    '::g',
    '::1.2.3',
    '1.2.3.4::',
    'fe80::1%',
    '1.2.3.4, 5.6.7.8',
    '1.2.3.4\n',
    '::1\n',
    `${'0'.repeat(100)}::`,
  ])('%j is no address', (address) => {
    expect(addressKey(address)).toBeUndefined();
  });

  it.each([null, 7, {}, []])('nor is %j', (value) => {
    expect(addressKey(value as never)).toBeUndefined();
  });

  it.each([
    [32, '2001:db8::/32'],
    [48, '2001:db8:1::/48'],
    [63, '2001:db8:1:2::/63'],
    [64, '2001:db8:1:3::/64'],
    [112, '2001:db8:1:3::/112'],
    [127, '2001:db8:1:3::2/127'],
    [128, '2001:db8:1:3::3/128'],
  ])('K-02 with a prefix of %i', (ipv6Prefix, key) => {
    expect(addressKey('2001:db8:1:3::3', { ipv6Prefix })).toBe(key);
    expect(addressKey('192.0.2.1', { ipv6Prefix })).toBe('192.0.2.1');
  });

  it('K-02 all of a network is one client, and the next network another', () => {
    const keys = Array.from({ length: 1000 }, (_, i) =>
      addressKey(`2001:db8:1:2::${(i + 1).toString(16)}`, { ipv6Prefix: 64 }),
    );
    expect(new Set(keys)).toEqual(new Set(['2001:db8:1:2::/64']));
    expect(addressKey('2001:db8:1:3::1', { ipv6Prefix: 64 })).toBe('2001:db8:1:3::/64');
  });

  it.each([
    [31, 'ipv6Prefix must be an integer from 32 to 128, got 31'],
    [129, 'ipv6Prefix must be an integer from 32 to 128, got 129'],
    [56.5, 'ipv6Prefix must be an integer from 32 to 128, got 56.5'],
    [Number.NaN, 'ipv6Prefix must be an integer from 32 to 128, got NaN'],
    ['56', 'ipv6Prefix must be an integer from 32 to 128, got "56"'],
    [null, 'ipv6Prefix must be an integer from 32 to 128, got null'],
  ])('a prefix of %j is refused', (ipv6Prefix, message) => {
    const options = { ipv6Prefix } as { ipv6Prefix: number };
    expect(() => addressKey('192.0.2.1', options)).toThrow(message);
  });

  it('so are options that are none', () => {
    expect(() => addressKey('::1', { prefix: 64 } as never)).toThrow('prefix is not an option');
    expect(() => addressKey('::1', 64 as never)).toThrow('options must be an object such as');
  });
});
