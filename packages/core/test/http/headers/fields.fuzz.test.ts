import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { parseDictionary, parseItem, parseList } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { parseHeaders } from '../../../src/http/headers/formats.js';
import { HeaderReport } from '../../../src/http/headers/report.js';
import { parsePolicy } from '../../../src/policy/policy.js';
import { fuzzRuns } from '../../support/fuzz.js';
import { byName, told } from './told.js';

const NAME = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/);
const AMOUNT = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.maxSafeNat());
const MS = fc.oneof(
  fc.integer({ min: 1, max: 100_000 }),
  fc.integer({ min: 1, max: 100_000 }).map((seconds) => seconds * 1000),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
);

const TOLD = fc
  .record({
    policy: NAME,
    limit: AMOUNT,
    windowMs: MS,
    remaining: AMOUNT,
    retryAfterMs: fc.option(MS, { nil: undefined }),
    refillAfterMs: fc.option(MS, { nil: undefined }),
    resetAfterMs: fc.oneof(fc.constant(0), MS),
    key: fc.string({ unit: 'binary', minLength: 1 }),
  })
  .map(({ key, retryAfterMs, ...facts }) =>
    told({ ...facts, retryAfterMs, allowed: retryAfterMs === undefined } as never, key),
  );
const SEVERAL = fc.array(TOLD, { minLength: 1, maxLength: 4 });

/** Whole, at least 0, and of no more digits than a structured field has. */
function expectInteger(value: unknown): void {
  expect(Number.isInteger(value)).toBe(true);
  expect(value).toBeGreaterThanOrEqual(0);
  expect(value).toBeLessThanOrEqual(999_999_999_999_999);
}

describe('H-08 a parser of RFC 9651 takes every field, whatever the names and numbers', () => {
  it('draft-11, with partition keys', () => {
    const report = new HeaderReport(parseHeaders({ partitionKeySecret: 'secret' }));
    fc.assert(
      fc.property(SEVERAL, (all) => {
        const fields = byName(report.headersOf({}, all).append);
        const names = all.map(({ decision }) => decision.policy);
        for (const [field, numbers] of [
          ['RateLimit-Policy', ['q', 'w']],
          ['RateLimit', ['r', 't']],
        ] as const) {
          const text = fields[field] as string;
          validateHeaderValue(field, text);
          const members = parseList(text);
          expect(members.map(([name]) => name)).toEqual(names);
          for (const [, parameters] of members) {
            const { pk, ...others } = Object.fromEntries(parameters);
            expect((pk as ArrayBuffer).byteLength).toBe(12);
            expect(numbers).toEqual(expect.arrayContaining(Object.keys(others)));
            for (const value of Object.values(others)) expectInteger(value);
          }
        }
      }),
      fuzzRuns(),
    );
  });

  it('draft-7 and draft-6', () => {
    const report = new HeaderReport(parseHeaders(['draft-7', 'draft-6']));
    fc.assert(
      fc.property(SEVERAL, (all) => {
        const fields = byName(report.headersOf({}, all).replace);
        const { 'RateLimit-Policy': policies, RateLimit: state, ...others } = fields;
        if (policies !== undefined) {
          const quotas = parseList(policies).map(([quota, parameters]) => {
            expectInteger(quota);
            expectInteger(parameters.get('w'));
            return quota;
          });
          expect(new Set(all.map(({ decision }) => decision.limit)).size).toBeGreaterThanOrEqual(
            quotas.length,
          );
        }
        for (const [value] of parseDictionary(state as string).values()) expectInteger(value);
        expect(Object.keys(others)).toHaveLength(3);
        for (const value of Object.values(others)) expectInteger(parseItem(value)[0]);
      }),
      fuzzRuns(),
    );
  });
});

describe('H-08 names', () => {
  it.each(['per "user"', 'naïve', '日本', 'a\nb', '', ' a', 'a;b', 'a,b', '-a', 'a'.repeat(65)])(
    '%j is refused when it is made',
    (name) => {
      expect(() => parsePolicy(name, { limit: 1, window: '1s' }, '')).toThrow(/^name must be 1 to/);
    },
  );

  it('any text is refused, or can be told as it is', () => {
    const report = new HeaderReport(parseHeaders('draft-11'));
    const texts = fc.oneof(NAME, fc.string({ unit: 'binary', maxLength: 70 }));
    let taken = 0;
    fc.assert(
      fc.property(texts, (name) => {
        try {
          parsePolicy(name, { limit: 1, window: '1s' }, '');
        } catch (error) {
          expect(error).toMatchObject({ code: 'RL_INVALID_VALUE', field: 'name' });
          return;
        }
        taken++;
        const { append } = report.headersOf({}, [told({ policy: name })]);
        for (const [field, value] of append) {
          validateHeaderValue(field, value);
          expect(parseList(value)[0]?.[0]).toBe(name);
        }
      }),
      fuzzRuns(),
    );
    expect(taken).toBeGreaterThan(0);
  });
});
