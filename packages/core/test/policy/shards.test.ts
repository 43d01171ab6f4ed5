import { describe, expect, it } from 'vitest';
import { PolicyBook } from '../../src/limiter/policy-book.js';
import {
  describePolicy,
  type PolicyOptions,
  parsePolicy,
  samePolicy,
} from '../../src/policy/policy.js';

const parse = (options: Partial<PolicyOptions>) =>
  parsePolicy('p', { limit: 100, window: '10s', ...options }, 'policies.p');

describe('the shards of a policy', () => {
  it.each([
    [undefined, undefined],
    [1, undefined],
    [2, 2],
    [10, 10],
  ])('%j is %j', (shards, expected) => {
    expect(parse({ shards }).shards).toBe(expected);
  });

  it.each<[Partial<PolicyOptions>, string]>([
    [{ shards: 0 }, 'must be an integer from 1 to 64, got 0'],
    [{ shards: 2.5 }, 'must be an integer from 1 to 64, got 2.5'],
    [{ shards: 65, limit: 1e6 }, 'must be an integer from 1 to 64, got 65'],
    [{ shards: '8' as never }, 'must be an integer from 1 to 64, got "8"'],
    [
      { shards: 11 },
      'must be at most 10 with a limit of 100, so that each has 10 permits of it, got 11',
    ],
    [
      { shards: 8, burst: 79 },
      'must be at most 7 with a burst of 79, so that each has 10 permits of it, got 8',
    ],
    [
      { shards: 8, limit: 79, burst: 100 },
      'must be at most 7 with a limit of 79, so that each has 10 permits of it, got 8',
    ],
    [
      { shards: 8, limit: 0 },
      'must be left out with a limit of 0: each shard needs 10 permits of it, got 8',
    ],
  ])('%j is refused', (options, message) => {
    expect(() => parse(options)).toThrow(`policies.p.shards ${message}`);
  });

  it('make another policy, and are told in words', () => {
    expect(samePolicy(parse({ shards: 8 }), parse({ shards: 4 }))).toBe(false);
    expect(samePolicy(parse({ shards: 8 }), parse({ shards: 8 }))).toBe(true);
    expect(describePolicy(parse({ shards: 8 }))).toBe('100 per 10s, burst 100, 8 shards');
  });

  it('may be given to one tier alone, or taken away', () => {
    const book = new PolicyBook({ p: { limit: 100, window: '10s' } });
    const base = book.policies.get('p') as NonNullable<ReturnType<typeof parse>>;
    expect(book.changed(base, { limit: 100_000, shards: 8 })).toMatchObject({ shards: 8 });
    const all = new PolicyBook({ p: { limit: 1000, window: '10s', shards: 8 } });
    expect(all.changed(base, { limit: 10, shards: 1 })).toMatchObject({ limit: 10 });
    expect(all.changed(base, { limit: 10, shards: 1 }).shards).toBeUndefined();
    expect(() => all.changed(base, { limit: 10 })).toThrow('policies.p.shards');
  });
});
