import { describe, expect, it } from 'vitest';
import type { Decision, Denied } from '../../src/decision/decision.js';
import { denialOf, denialOfUnnamed } from '../../src/http/denial.js';
import { DeniedError } from '../../src/http/denied-error.js';
import { toldDenied } from './headers/told.js';

function denied(retryAfterMs: number | undefined, facts: Partial<Decision> = {}): Denied {
  return toldDenied(retryAfterMs, facts).decision as Denied;
}

const CLOSED = { origin: 'fallback', fallback: { mode: 'closed', fault: 'timeout' } } as const;

describe('one policy', () => {
  it.each([
    [0, 1],
    [1, 1],
    [1000, 1],
    [1001, 2],
    [86_400_000, 86_400],
    [2 ** 53 - 1, 9_007_199_254_741],
  ])('a wait of %i ms is %i s', (retryAfterMs, retryAfterS) => {
    const decision = denied(retryAfterMs);
    expect(denialOf(decision)).toEqual({
      status: 429,
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Quota Exceeded',
      detail: `The quota is 5 per 1m. Try again in ${retryAfterS} s.`,
      violatedPolicies: ['p'],
      retryAfterS,
      decision,
    });
  });

  it('what can never fit has no wait, whatever the jitter', () => {
    expect(denialOf(denied(undefined), 5)).toMatchObject({
      retryAfterS: undefined,
      detail: 'The quota is 5 per 1m. This request costs more than can ever be spent at once.',
    });
  });

  it('jitter comes on top, in what is said too', () => {
    expect(denialOf(denied(200), 5)).toMatchObject({
      retryAfterS: 6,
      detail: 'The quota is 5 per 1m. Try again in 6 s.',
    });
    expect(denialOf(denied(200, CLOSED), 5).retryAfterS).toBe(6);
  });
});

describe('several policies', () => {
  const each = (...all: Denied[]): Denied =>
    ({ ...(all[0] as Denied), each: [...all, { ...denied(1), allowed: true }] }) as Denied;

  it('the longest wait is told, with its quota', () => {
    const decision = each(denied(1000, { policy: 'a' }), denied(9000, { policy: 'b', limit: 7 }));
    expect(denialOf(decision)).toMatchObject({
      violatedPolicies: ['a', 'b'],
      retryAfterS: 9,
      detail: 'The quota is 7 per 1m. Try again in 9 s.',
    });
  });

  it('one that can never fit has them all without a wait', () => {
    const never = denied(undefined, { policy: 'b' });
    const waits = denied(1000, { policy: 'a' });
    for (const decision of [each(never, waits), each(waits, never)]) {
      expect(denialOf(decision).retryAfterS).toBeUndefined();
    }
  });

  it('of waits that are as long the first is told', () => {
    const decision = each(denied(1000, { limit: 8 }), denied(1000, { limit: 9 }));
    expect(denialOf(decision).detail).toContain('The quota is 8 per');
  });

  it('closed ones count only where no quota is exceeded', () => {
    const closed = denied(90_000, { policy: 'c', ...CLOSED });
    expect(denialOf(each(closed, denied(1000, { policy: 'a' })))).toMatchObject({
      status: 429,
      violatedPolicies: ['a'],
      retryAfterS: 1,
    });
    expect(denialOf(each(closed))).toMatchObject({
      status: 503,
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      violatedPolicies: ['c'],
      retryAfterS: 90,
      detail: 'Quotas cannot be checked right now. Try again in 90 s.',
    });
  });
});

it('a request that names nobody', () => {
  expect(denialOfUnnamed('p')).toEqual({
    status: 429,
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Quota Exceeded',
    detail: 'This request does not say whom it is to be charged to.',
    violatedPolicies: ['p'],
    retryAfterS: undefined,
    decision: undefined,
  });
});

it.each([
  [denied(1000), 429],
  [denied(1000, CLOSED), 503],
])('as an error it says what frameworks read', (decision, status) => {
  const denial = denialOf(decision);
  const error = new DeniedError(denial);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    name: 'DeniedError',
    message: denial.detail,
    status,
    statusCode: status,
    expose: true,
    denial,
    headers: {},
  });
});
