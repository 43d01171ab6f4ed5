import { expect, test } from 'vitest';
import { isLogin } from '../src/passwords.js';
import { pagesOf } from '../src/search.js';

test.each([
  [undefined, 1],
  ['3', 3],
  ['3.9', 3],
  ['0', 1],
  ['-7', 1],
  ['many', 1],
  [['2', '3'], 1],
  ['1e9', 10],
])('a search for %j pages fetches %d', (asked, pages) => {
  expect(pagesOf(asked)).toBe(pages);
});

test.each([
  ['ann:tulip', true],
  ['ann:maple', false],
  ['eve:', false],
  ['eve:undefined', false],
  ['eve', false],
  ['', false],
])('%j logs in: %s', (credentials, isRight) => {
  expect(isLogin(`Basic ${Buffer.from(credentials).toString('base64')}`)).toBe(isRight);
});

test('without the scheme Basic nobody logs in', () => {
  expect(isLogin(undefined)).toBe(false);
  expect(isLogin(`Bearer ${Buffer.from('ann:tulip').toString('base64')}`)).toBe(false);
});
