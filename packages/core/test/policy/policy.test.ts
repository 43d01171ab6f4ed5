import { describe, expect, it } from 'vitest';
import { isRateLimitError } from '../../src/errors.js';
import {
  describePolicy,
  type PolicyOptions,
  parsePolicy,
  samePolicy,
} from '../../src/policy/policy.js';

/** The error of parsing `options`, as users of a limiter see it. */
function refusal(options: unknown, name = 'tenant') {
  try {
    parsePolicy(name, options as PolicyOptions, `policies.${name}`);
  } catch (error) {
    if (isRateLimitError(error)) {
      return { kind: error.constructor.name, field: error.field, message: error.message };
    }
  }
  throw new Error('not refused');
}

describe('a policy is completed', () => {
  it.each<[PolicyOptions, object]>([
    [
      { limit: 5, window: '1m' },
      { limit: 5, windowMs: 60_000, burst: 5 },
    ],
    [
      { limit: 5, window: 250, burst: 20 },
      { limit: 5, windowMs: 250, burst: 20 },
    ],
    [
      { limit: 0, window: '1d' },
      { limit: 0, windowMs: 86_400_000, burst: 0 },
    ],
    [
      { limit: 5, window: '1s', burst: undefined, algorithm: undefined },
      { limit: 5, windowMs: 1000, burst: 5 },
    ],
  ])('%j', (options, expected) => {
    const policy = parsePolicy('p', options, '');
    expect(policy).toEqual({
      name: 'p',
      algorithm: 'token-bucket',
      overdraft: policy.burst,
      shadow: false,
      keyClass: 'default',
      ...expected,
    });
    expect(Object.isFrozen(policy)).toBe(true);
  });

  it('is told in words', () => {
    expect(describePolicy(parsePolicy('p', { limit: 5, window: '90s', burst: 9 }, ''))).toBe(
      '5 per 90s, burst 9',
    );
  });
});

describe('C-02 what cannot be used is refused: the field is named and the value shown', () => {
  const integer = 'an integer of at least';
  it.each<[object, string, string, string]>([
    [{ limit: -1 }, 'RangeError', 'limit', `must be ${integer} 0, got -1`],
    [{ limit: 1.7 }, 'RangeError', 'limit', `must be ${integer} 0, got 1.7`],
    [{ limit: Number.NaN }, 'RangeError', 'limit', `must be ${integer} 0, got NaN`],
    [{ limit: Infinity }, 'RangeError', 'limit', `must be ${integer} 0, got Infinity`],
    [{ limit: 2 ** 53 }, 'RangeError', 'limit', `must be ${integer} 0, got 9007199254740992`],
    [{ limit: '10' }, 'TypeError', 'limit', `must be ${integer} 0, got "10"`],
    [{ limit: undefined }, 'TypeError', 'limit', `must be ${integer} 0, got undefined`],
    [{ burst: 0 }, 'RangeError', 'burst', `must be ${integer} 1, got 0`],
    [{ burst: -5 }, 'RangeError', 'burst', `must be ${integer} 1, got -5`],
    [{ burst: 1.5 }, 'RangeError', 'burst', `must be ${integer} 1, got 1.5`],
    [{ burst: '7' }, 'TypeError', 'burst', `must be ${integer} 1, got "7"`],
    [{ burst: null }, 'TypeError', 'burst', `must be ${integer} 1, got null`],
    [{ limit: 0, burst: 5 }, 'RangeError', 'burst', 'must be left out where limit is 0, got 5'],
    [{ window: 0 }, 'RangeError', 'window', 'got 0'],
    [{ window: -1 }, 'RangeError', 'window', 'got -1'],
    [{ window: 0.5 }, 'RangeError', 'window', 'got 0.5'],
    [{ window: Number.NaN }, 'RangeError', 'window', 'got NaN'],
    [{ window: '60' }, 'RangeError', 'window', 'got "60"'],
    [{ window: '5x' }, 'RangeError', 'window', 'got "5x"'],
    [{ window: '' }, 'RangeError', 'window', 'got ""'],
    [{ window: undefined }, 'TypeError', 'window', 'got undefined'],
    [
      { algorithm: 'leaky' },
      'RangeError',
      'algorithm',
      'must be one of "token-bucket", "gcra", "fixed-window", "sliding-window", "sliding-log", got "leaky"',
    ],
    [{ algorithm: 7 }, 'RangeError', 'algorithm', '"sliding-log", got 7'],
    [{ limit: 2 ** 53 - 1 }, 'RangeError', 'limit', 'must be at most 9007199254740 with a window'],
    [
      { overdraft: -1 },
      'RangeError',
      'overdraft',
      'must be an integer from 0 to 9007199254735, got',
    ],
    [{ overdraft: 2 ** 45 }, 'RangeError', 'overdraft', 'from 0 to 9007199254735, got 35184372088'],
    [
      { limit: 0, overdraft: 1 },
      'RangeError',
      'overdraft',
      'must be an integer from 0 to 0, got 1',
    ],
    [{ shadow: 'yes' }, 'TypeError', 'shadow', 'must be true or false, got "yes"'],
    ...(['fixed-window', 'sliding-window', 'sliding-log'] as const).map(
      (algorithm) =>
        [
          { algorithm, burst: 9 },
          'RangeError',
          'burst',
          `must be left out with ${algorithm}, where the limit is the burst, got 9`,
        ] as [object, string, string, string],
    ),
    [
      { algorithm: 'sliding-log', limit: 70_000 },
      'RangeError',
      'limit',
      'must be at most 10000 with sliding-log, which keeps every call; sliding-window has no such',
    ],
    [{ keyClass: 5 }, 'TypeError', 'keyClass', 'must be a text, got 5'],
    [{ keyClass: null }, 'TypeError', 'keyClass', 'must be a text, got null'],
    [{ keyClass: 'x'.repeat(65) }, 'RangeError', 'keyClass', 'must be 1 to 64 letters'],
    ...['', 'a b', '-a', 'é'].map(
      (keyClass) =>
        [
          { keyClass },
          'RangeError',
          'keyClass',
          `must be 1 to 64 letters, digits, "_", "." or "-", beginning with a letter or a digit, got "${keyClass}"`,
        ] as [object, string, string, string],
    ),
    [{ burst: 2 ** 50, window: '30d' }, 'RangeError', 'burst', 'must be at most 3474999 with'],
  ])('%j', (change, kind, field, message) => {
    const refused = refusal({ limit: 5, window: '1s', ...change });
    expect(refused).toMatchObject({ kind, field: `policies.tenant.${field}` });
    expect(refused.message).toContain(`policies.tenant.${field} must be `);
    expect(refused.message).toContain(message);
  });

  it('a key class is "default", or what is given, and changes no quota', () => {
    const plain = parsePolicy('p', { limit: 5, window: '1s' }, '');
    expect(plain.keyClass).toBe('default');
    for (const keyClass of ['a', '9.b_c-d', 'x'.repeat(64)]) {
      const policy = parsePolicy('p', { limit: 5, window: '1s', keyClass }, '');
      expect(policy.keyClass).toBe(keyClass);
      expect(samePolicy(policy, plain)).toBe(true);
    }
  });

  it('the largest burst that is named is accepted, one more is not', () => {
    const most = { limit: 1, window: '30d', burst: 3_474_999 };
    expect(parsePolicy('p', most, '').burst).toBe(3_474_999);
    expect(refusal({ ...most, burst: 3_475_000 }).kind).toBe('RangeError');
  });

  it('an option that does not exist is not ignored', () => {
    expect(refusal({ max: 5, window: '1s' })).toMatchObject({
      kind: 'TypeError',
      field: 'policies.tenant.max',
      message:
        'policies.tenant.max is not an option; the options are limit, window, burst, algorithm, overdraft, shadow, lease, shards, fallback, keyClass',
    });
  });

  it.each([[null], [5], ['5/s'], [undefined]])('a policy that is %j', (options) => {
    expect(refusal(options).message).toMatch(
      /^policies\.tenant must be an object with limit and window, got /,
    );
  });

  it.each(['', 'per "user"', 'naïve', '日本', 'a\nb', 'a:b', '-a', 'x'.repeat(65), '__proto__'])(
    'the name %j',
    (name) => {
      expect(refusal({ limit: 5, window: '1s' }, name).message).toContain(
        'must be 1 to 64 letters, digits, "_", "." or "-", beginning with a letter or a digit',
      );
    },
  );
});
