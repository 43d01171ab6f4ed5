import { createHmac } from 'node:crypto';
import { parseList } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { draft11 } from '../../../src/http/headers/draft-11.js';
import { byName, told, toldDenied } from './told.js';

const { write } = draft11();

describe('draft-11', () => {
  it('is a list of all policies, in both fields', () => {
    const day = told({ policy: 'day', limit: 100, windowMs: 86_400_000, remaining: 97 });
    expect(byName(write([told(), day]))).toEqual({
      'RateLimit-Policy': '"p";q=5;w=60, "day";q=100;w=86400',
      RateLimit: '"p";r=4;t=12, "day";r=97;t=12',
    });
    expect(draft11()).toMatchObject({ isList: true, names: ['RateLimit-Policy', 'RateLimit'] });
  });

  it.each([
    [500, '"p";q=5'],
    [1500, '"p";q=5'],
    [2000, '"p";q=5;w=2'],
    [3_600_000, '"p";q=5;w=3600'],
  ])('a window of %i ms', (windowMs, field) => {
    expect(byName(write([told({ windowMs })]))['RateLimit-Policy']).toBe(field);
  });

  it.each([
    ['the refill, rounded up', told({ refillAfterMs: 1 }), '"p";r=4;t=1'],
    ['nothing where the bucket is full', told({ refillAfterMs: undefined }), '"p";r=4'],
    ['the wait of a denial, not its refill', toldDenied(30_001), '"p";r=0;t=31'],
    ['the refill, where the cost never fits', toldDenied(undefined), '"p";r=0;t=12'],
  ])('t is %s', (_, one, field) => {
    expect(byName(write([one])).RateLimit).toBe(field);
  });

  it('what it keeps of a policy goes with the limit and the window in force', () => {
    const fields = [
      { limit: 5, windowMs: 60_000 },
      { limit: 6, windowMs: 60_000 },
      { limit: 6, windowMs: 1000 },
      { limit: 5, windowMs: 60_000 },
    ].map((values) => byName(write([told(values)])));
    expect(fields.map((field) => field['RateLimit-Policy'])).toEqual([
      '"p";q=5;w=60',
      '"p";q=6;w=60',
      '"p";q=6;w=1',
      '"p";q=5;w=60',
    ]);
  });

  it('more policies than it keeps are told of as well, and the first ones again', () => {
    const policies = Array.from({ length: 2500 }, (_, i) => `p${i % 1250}`);
    for (const policy of policies) {
      expect(byName(write([told({ policy })]))['RateLimit-Policy']).toBe(`"${policy}";q=5;w=60`);
    }
  });

  it('numbers a structured field cannot hold are cut to the largest it can', () => {
    const limit = 2 ** 53 - 1;
    const huge = told({ limit, windowMs: limit - 991, remaining: limit, refillAfterMs: limit });
    const fields = byName(write([huge]));
    expect(fields).toEqual({
      'RateLimit-Policy': '"p";q=999999999999999;w=9007199254740',
      RateLimit: '"p";r=999999999999999;t=9007199254741',
    });
    for (const field of Object.values(fields)) expect(parseList(field)).toHaveLength(1);
  });
});

describe('pk', () => {
  /** The parameter, as bytes, of both fields. */
  function keysOf(secret: string | Uint8Array, ...all: ReturnType<typeof told>[]): Buffer[] {
    return Object.values(byName(draft11(secret).write(all))).flatMap((field) =>
      parseList(field).map(([, parameters]) => Buffer.from(parameters.get('pk') as ArrayBuffer)),
    );
  }

  it('is the start of a keyed hash of policy and key, the same in both fields', () => {
    const hash = createHmac('sha256', 'secret').update('p\0ann').digest().subarray(0, 12);
    expect(keysOf('secret', told())).toEqual([hash, hash]);
    expect(keysOf(Buffer.from('secret'), told())).toEqual([hash, hash]);
  });

  it('differs by secret, by key and by policy', () => {
    const members = [
      keysOf('secret', told())[0],
      keysOf('other', told())[0],
      keysOf('secret', told({}, 'bob'))[0],
      keysOf('secret', told({ policy: 'q' }))[0],
    ];
    expect(new Set(members.map((member) => member?.toString('hex'))).size).toBe(4);
  });

  it('comes behind what is told without it, of each policy', () => {
    const field = byName(draft11('secret').write([told(), told({ policy: 'q' })])).RateLimit;
    expect(field).toMatch(/^"p";r=4;t=12;pk=:[\w+/]{16}:, "q";r=4;t=12;pk=:[\w+/]{16}:$/);
  });
});
