import { parseDictionary, parseList } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { DRAFT_7, quotaPolicies } from '../../../src/http/headers/draft-7.js';
import { byName, told, toldDenied } from './told.js';

describe('draft-7', () => {
  it('tells of the first policy in a dictionary, and of all in a list', () => {
    const day = told({ policy: 'day', limit: 100, windowMs: 86_400_000 });
    const fields = byName(DRAFT_7.write([told({ resetAfterMs: 12_001 }), day]));
    expect(fields).toEqual({
      'RateLimit-Policy': '5;w=60, 100;w=86400',
      RateLimit: 'limit=5, remaining=4, reset=13',
    });
    const members = parseDictionary(fields.RateLimit as string);
    expect([...members.keys()]).toEqual(['limit', 'remaining', 'reset']);
    expect(parseList(fields['RateLimit-Policy'] as string).map(([item]) => item)).toEqual([5, 100]);
    expect(DRAFT_7).toMatchObject({ isList: false, names: ['RateLimit-Policy', 'RateLimit'] });
  });

  it('the reset of a denial is no earlier than its wait', () => {
    expect(byName(DRAFT_7.write([toldDenied(40_000)])).RateLimit).toBe(
      'limit=5, remaining=0, reset=40',
    );
  });

  it('numbers a structured field cannot hold are cut to the largest it can', () => {
    const limit = 2 ** 53 - 1;
    const fields = byName(
      DRAFT_7.write([told({ limit, remaining: limit, windowMs: 1000, resetAfterMs: limit })]),
    );
    expect(fields).toEqual({
      'RateLimit-Policy': '999999999999999;w=1',
      RateLimit: 'limit=999999999999999, remaining=999999999999999, reset=9007199254741',
    });
    expect(parseDictionary(fields.RateLimit as string).size).toBe(3);
  });
});

describe('quotaPolicies', () => {
  it('leaves out windows that are not of whole seconds, and says nothing where none is', () => {
    const odd = told({ limit: 7, windowMs: 1500 });
    expect(quotaPolicies([odd, told()])).toEqual([['RateLimit-Policy', '5;w=60']]);
    expect(quotaPolicies([odd])).toEqual([]);
  });

  it('of two with one quota it tells the first, the strictest', () => {
    const policies = [told({ windowMs: 1000 }), told(), told({ limit: 6 })];
    expect(quotaPolicies(policies)).toEqual([['RateLimit-Policy', '5;w=1, 6;w=60']]);
  });
});
