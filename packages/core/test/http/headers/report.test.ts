import { describe, expect, it } from 'vitest';
import {
  type HeaderFormats,
  type HeaderOptions,
  parseHeaders,
} from '../../../src/http/headers/formats.js';
import type { Told } from '../../../src/http/headers/header.js';
import { HeaderReport, NO_HEADERS } from '../../../src/http/headers/report.js';
import { byName, told, toldDenied } from './told.js';

const report = (option: HeaderFormats | HeaderOptions): HeaderReport =>
  new HeaderReport(parseHeaders(option));

/** The policies that are told of, in order. */
function order(...all: Told[]): string {
  let seen = '';
  const note: HeaderFormats = (decisions) => {
    seen = decisions.map(({ policy }) => policy).join();
    return {};
  };
  report(note).headersOf({}, all);
  return seen;
}

describe('H-09 the strictest is told first', () => {
  const many = told({ policy: 'many', remaining: 97 });
  const few = told({ policy: 'few', remaining: 12 });
  const short = toldDenied(1000, { policy: 'short' });
  const long = toldDenied(60_000, { policy: 'long', remaining: 5 });
  const never = toldDenied(undefined, { policy: 'never', remaining: 9 });

  it.each([
    ['of those that allow, the one with the least left', [many, few], 'few,many'],
    ['a denial before all that allow', [few, long, many], 'long,few,many'],
    ['of denials the longest wait', [short, long], 'long,short'],
    ['and before that what no wait helps', [short, long, never], 'never,long,short'],
    ['all of them', [many, short, never, few, long], 'never,long,short,few,many'],
  ])('%s', (_, all, expected) => {
    expect(order(...all)).toBe(expected);
    expect(order(...all.toReversed())).toBe(expected);
  });

  it('two that no wait helps, and two that wait as long: the one with the least left', () => {
    const other = toldDenied(undefined, { policy: 'other', remaining: 3 });
    expect(order(never, other)).toBe('other,never');
    const same = toldDenied(60_000, { policy: 'same', remaining: 4 });
    expect(order(long, same)).toBe('same,long');
  });

  it('equals stay in their order', () => {
    expect(order(told({ policy: 'a' }), told({ policy: 'b' }), told({ policy: 'c' }))).toBe(
      'a,b,c',
    );
  });
});

describe('several policies', () => {
  const day = told({ policy: 'day', limit: 100, remaining: 97, windowMs: 86_400_000 });
  const minute = told({ policy: 'minute', remaining: 2 });

  it('lists keep the order of the keys, and hold all', () => {
    const { append, replace } = report('draft-11').headersOf({}, [day, minute]);
    expect(byName(append).RateLimit).toBe('"day";r=97;t=12, "minute";r=2;t=12');
    expect(replace).toEqual([]);
  });

  it('by choice they hold the strictest alone', () => {
    const terms = { policies: 'strictest', formats: ['draft-11', 'draft-6'] } as const;
    const { append, replace } = report(terms).headersOf({}, [day, minute]);
    expect(byName(append)).toEqual({
      'RateLimit-Policy': '"minute";q=5;w=60',
      RateLimit: '"minute";r=2;t=12',
    });
    expect(byName(replace)).toMatchObject({ 'RateLimit-Remaining': '2' });
  });

  it('fields about one policy are about the strictest', () => {
    const { append, replace } = report('draft-7').headersOf({}, [day, minute]);
    expect(append).toEqual([]);
    expect(byName(replace)).toEqual({
      'RateLimit-Policy': '5;w=60, 100;w=86400',
      RateLimit: 'limit=5, remaining=2, reset=12',
    });
  });
});

describe('H-09 limiters of one request, one after the other', () => {
  const first = told({ policy: 'first', remaining: 3 });
  const second = told({ policy: 'second', remaining: 7, limit: 10, windowMs: 1000 });

  it('the last one does not hide a stricter one before it', () => {
    const request = {};
    report('legacy-delta').headersOf(request, [first]);
    const { replace } = report('draft-7').headersOf(request, [second]);
    expect(byName(replace)).toEqual({
      'RateLimit-Policy': '5;w=60, 10;w=1',
      RateLimit: 'limit=5, remaining=3, reset=12',
    });
    expect(byName(report('draft-6').headersOf(request, [told({ remaining: 1 })]).replace)).toEqual({
      'RateLimit-Policy': '5;w=60, 10;w=1',
      'RateLimit-Limit': '5',
      'RateLimit-Remaining': '1',
      'RateLimit-Reset': '12',
    });
  });

  it('lists tell of their own alone, as they are appended', () => {
    const request = {};
    const draft11 = report(['draft-11', 'legacy-delta']);
    draft11.headersOf(request, [first]);
    const { append, replace } = draft11.headersOf(request, [second]);
    expect(byName(append).RateLimit).toBe('"second";r=7;t=12');
    expect(byName(replace)['X-RateLimit-Remaining']).toBe('3');
  });

  it('another request begins anew, and so does one that is no object', () => {
    const legacy = report('legacy-delta');
    for (const request of [{}, {}, 'text', 'text', undefined, null]) {
      legacy.headersOf({}, [first]);
      legacy.headersOf('text', [first]);
      const { replace } = legacy.headersOf(request, [second]);
      expect(byName(replace)['X-RateLimit-Remaining']).toBe('7');
    }
  });
});

describe('what nobody knows is not told', () => {
  const by = (mode: 'local' | 'open' | 'closed' | 'region', remaining: number): Told =>
    told({ policy: mode, remaining, origin: 'fallback', fallback: { mode, fault: 'timeout' } });

  it('an open or a closed fallback is left out, a local one and a region are not', () => {
    const all = [by('open', 9), by('local', 3), by('closed', 0), by('region', 2), told()];
    const { append } = report('draft-11').headersOf({}, all);
    expect(byName(append).RateLimit).toBe('"local";r=3;t=12, "region";r=2;t=12, "p";r=4;t=12');
    expect(report('draft-11').headersOf({}, [by('open', 9), by('closed', 0)])).toBe(NO_HEADERS);
  });

  it('nor is anything where the app wants nothing', () => {
    expect(report('none').headersOf({}, [told()])).toBe(NO_HEADERS);
    expect(report('draft-11').headersOf({}, [])).toBe(NO_HEADERS);
  });
});

describe('H-07 expose', () => {
  const EXPOSED = 'Access-Control-Expose-Headers';

  it('appends the names of all that is written, and Retry-After', () => {
    const terms = { formats: ['draft-11', 'x-rate-limit'], expose: true } as const;
    const { append } = report(terms).headersOf({}, [told()]);
    expect(byName(append)[EXPOSED]).toBe(
      'RateLimit-Policy, RateLimit, X-Rate-Limit-Limit, X-Rate-Limit-Remaining, X-Rate-Limit-Reset, Retry-After',
    );
    const mine: HeaderOptions = { formats: () => ({ 'X-Mine': 'a' }), expose: true };
    expect(report(mine).headersOf({}, [told()]).append).toEqual([[EXPOSED, 'X-Mine, Retry-After']]);
  });

  it('names what is written, not what could be', () => {
    const terms = { formats: 'draft-6', expose: true } as const;
    const { append } = report(terms).headersOf({}, [told({ windowMs: 1500 })]);
    expect(byName(append)[EXPOSED]).toBe(
      'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After',
    );
  });

  it('a denial of which nothing is told has its Retry-After all the same', () => {
    const closed = toldDenied(1000, {
      origin: 'fallback',
      fallback: { mode: 'closed', fault: 'timeout' },
    });
    const retryAfter = { append: [[EXPOSED, 'Retry-After']], replace: [] };
    expect(report({ expose: true }).headersOf({}, [closed, told()]).append).toHaveLength(3);
    expect(report({ expose: true }).headersOf({}, [closed])).toEqual(retryAfter);
    const none = report({ formats: 'none', expose: true });
    expect(none.headersOf({}, [told(), toldDenied(1)])).toEqual(retryAfter);
    expect(none.headersOf({}, [told()])).toBe(NO_HEADERS);
    expect(report('none').headersOf({}, [toldDenied(1)])).toBe(NO_HEADERS);
  });
});
