import { expect, it } from 'vitest';
import { draft6 } from '../../../src/http/headers/draft-6.js';
import { byName, told } from './told.js';

const OWN = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
const ALL = [told({ resetAfterMs: 11_001 }), told({ limit: 100, windowMs: 1000 })];

it('has a field for each number of the first policy, and a list of all', () => {
  expect(draft6(true)).toMatchObject({ isList: false, names: ['RateLimit-Policy', ...OWN] });
  expect(byName(draft6(true).write(ALL))).toEqual({
    'RateLimit-Policy': '5;w=60, 100;w=1',
    'RateLimit-Limit': '5',
    'RateLimit-Remaining': '4',
    'RateLimit-Reset': '12',
  });
});

it('leaves that list out where another format has it', () => {
  expect(draft6(false)).toMatchObject({ isList: false, names: OWN });
  expect(Object.keys(byName(draft6(false).write(ALL)))).toEqual(OWN);
});

it('numbers are cut as those of structured fields are', () => {
  const limit = 2 ** 53 - 1;
  const huge = told({ limit, remaining: limit, windowMs: 1, resetAfterMs: limit });
  expect(byName(draft6(true).write([huge]))).toEqual({
    'RateLimit-Limit': '999999999999999',
    'RateLimit-Remaining': '999999999999999',
    'RateLimit-Reset': '9007199254741',
  });
});
