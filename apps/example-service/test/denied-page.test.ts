import type { Denial } from '@rl/core/http';
import { expect, test } from 'vitest';
import { deniedBody } from '../src/denied-body.js';
import { deniedPage } from '../src/denied-page.js';

const DENIAL: Denial = {
  status: 429,
  type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  title: 'Quota Exceeded',
  detail: 'The quota is 5 per 1m. Try again in 12 s.',
  violatedPolicies: ['tier'],
  retryAfterS: 12,
  decision: undefined,
};

test.each([
  [1, 'in 1 second.'],
  [119, 'in 119 seconds.'],
  [121, 'in 3 minutes.'],
  [7200, 'in 2 hours.'],
  [7201, 'in 3 hours.'],
])('after %s seconds the page says: %s', (retryAfterS, words) => {
  expect(deniedPage({ ...DENIAL, retryAfterS })).toContain(words);
});

test('where quotas cannot be checked, nobody is told that they asked too much', () => {
  const page = deniedPage({ ...DENIAL, status: 503 });
  expect(page).toContain('not your fault');
  expect(page).not.toContain('Too many');
});

test('where no wait would help, the page says why', () => {
  const detail = 'This request costs more than can ever be spent at once.';
  const page = deniedPage({ ...DENIAL, detail, retryAfterS: undefined });
  expect(page).toContain(detail);
  expect(page).not.toContain('try again');
});

test('markup in a text is shown, not obeyed', () => {
  const detail = `<script>alert("it's")</script> & more`;
  const page = deniedPage({
    ...DENIAL,
    detail,
    retryAfterS: undefined,
    violatedPolicies: ['<script>'],
  });
  expect(page).toContain('&lt;script&gt;alert(&quot;it&#39;s&quot;)&lt;/script&gt; &amp; more');
  expect(page).not.toContain('<script');
});

test('who asks for text/html gets the page, all others the problem document', () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  expect(deniedBody(DENIAL, browser).type).toBe('text/html; charset=utf-8');
  for (const accept of [undefined, '*/*', 'application/json']) {
    const { type, data } = deniedBody(DENIAL, accept);
    expect(type).toBe('application/problem+json');
    expect(JSON.parse(String(data))).toMatchObject({
      title: 'Quota Exceeded',
      'violated-policies': ['tier'],
    });
  }
});
