import { describe, expect, it } from 'vitest';
import { dnsReplicas } from '../../src/fallback/dns-replicas.js';

const v4 = (...addresses: string[]) => addresses.map((address) => ({ address, family: 4 }));
const v6 = (...addresses: string[]) => addresses.map((address) => ({ address, family: 6 }));

describe('dnsReplicas', () => {
  it('asks the system where it is given no lookup', async () => {
    expect(await dnsReplicas('localhost')()).toBe(1);
  });

  it.each([
    ['one address', v4('10.0.0.1'), 1],
    ['several', v4('10.0.0.1', '10.0.0.2', '10.0.0.3'), 3],
    ['one that comes twice', v4('10.0.0.1', '10.0.0.2', '10.0.0.1'), 2],
    ['both families, as many', [...v4('10.0.0.1', '10.0.0.2'), ...v6('fd00::1', 'fd00::2')], 2],
    ['more of one', [...v4('10.0.0.1'), ...v6('fd00::1', 'fd00::2')], 2],
    ['IPv6 alone', v6('fd00::1', 'fd00::2'), 2],
  ])('counts %s', async (_, addresses, count) => {
    const asked: unknown[] = [];
    const replicas = dnsReplicas('api', {
      lookup: async (...args) => {
        asked.push(args);
        return addresses;
      },
    });
    expect(await replicas()).toBe(count);
    expect(asked).toEqual([['api', { all: true }]]);
  });

  it('asks anew each time', async () => {
    const answers = [v4('10.0.0.1'), v4('10.0.0.1', '10.0.0.2')];
    const replicas = dnsReplicas('api', { lookup: async () => answers.shift() ?? [] });
    expect([await replicas(), await replicas()]).toEqual([1, 2]);
  });

  it('asks one question at a time', async () => {
    const answers: ((addresses: ReturnType<typeof v4>) => void)[] = [];
    const replicas = dnsReplicas('api', {
      lookup: () => new Promise((resolve) => answers.push(resolve)),
    });
    const asked = [replicas(), replicas()];
    expect(answers).toHaveLength(1);
    answers[0]?.(v4('10.0.0.1', '10.0.0.2'));
    expect(await Promise.all(asked)).toEqual([2, 2]);
    void replicas();
    expect(answers).toHaveLength(2);
  });

  it.each([
    [
      'the failure of a lookup',
      async () => Promise.reject(new Error('queryA ETIMEOUT')),
      'queryA ETIMEOUT',
    ],
    [
      'one that throws at once',
      () => {
        throw new Error('no resolver');
      },
      'no resolver',
    ],
    ['one that finds nothing', async () => [], 'it has none'],
    ['one that answers something else', async () => 3 as never, 'not iterable'],
  ])('names the host in %s, and asks again after it', async (_, lookup, why) => {
    const replicas = dnsReplicas('api.internal', { lookup });
    for (let i = 0; i < 2; i++) {
      const error = (await replicas().catch((e: unknown) => e)) as Error;
      expect(error).toBeInstanceOf(Error);
      expect(error.message).toMatch(/^could not count the addresses of api\.internal: /);
      expect(error.message).toContain(why);
      expect(error.cause).toBeInstanceOf(Error);
    }
  });

  it.each([
    [undefined, 'got undefined'],
    [7, 'got 7'],
    ['', 'got ""'],
    ['http://api', 'got "http://api"'],
    ['api:8080', 'got "api:8080"'],
    ['10.0.0.1', 'got "10.0.0.1"'],
    ['a b', 'got "a b"'],
    ['a'.repeat(254), 'got "aaa'],
  ])('refuses the name %j', (name, message) => {
    const make = () => dnsReplicas(name as string);
    expect(make).toThrow('name must be the name of a service, such as "api.internal"');
    expect(make).toThrow(message);
  });

  it.each([
    [{ lookup: 'dns' }, 'lookup must be a function, got "dns"'],
    [{ resolver: () => [] }, 'resolver is not an option; the options are lookup'],
    [null, 'options must be an object, got null'],
  ])('refuses the options %j', (options, message) => {
    expect(() => dnsReplicas('api', options as never)).toThrow(message);
  });
});
