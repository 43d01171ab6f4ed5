import { expect, test } from 'vitest';
import { randomPrefix } from '../src/random.js';

test('prefixes differ and hold nothing that means something in a key pattern or a hash tag', () => {
  const prefixes = new Set(Array.from({ length: 1_000 }, randomPrefix));
  expect(prefixes.size).toBe(1_000);
  for (const prefix of prefixes) expect(prefix).toMatch(/^t[0-9a-f]{12}:$/);
});
