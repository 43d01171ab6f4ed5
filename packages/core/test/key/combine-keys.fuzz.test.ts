import fc from 'fast-check';
import { expect, it } from 'vitest';
import { combineKeys } from '../../src/key/combine-keys.js';
import { fuzzRuns } from '../support/fuzz.js';

const part = fc.oneof(
  fc.string({ unit: fc.constantFrom('|', '~', '_', 'a', 'b'), minLength: 1, maxLength: 6 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }),
);
const parts = fc.array(part, { minLength: 1, maxLength: 4 });

it('K-07 different parts make different keys, wherever separators stand', () => {
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      expect(combineKeys(...a) === combineKeys(...b)).toBe(JSON.stringify(a) === JSON.stringify(b));
    }),
    fuzzRuns(),
  );
});
