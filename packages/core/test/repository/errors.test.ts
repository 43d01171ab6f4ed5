import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

it('every error code has its heading in docs/errors.md, and no other heading is there', () => {
  const union = /type ErrorCode =([^;]+);/.exec(read('../../src/errors.ts'))?.[1] ?? '';
  const codes = [...union.matchAll(/'(RL_[A-Z_]+)'/g)].map(([, code]) => code);
  const headings = [...read('../../../../docs/errors.md').matchAll(/^## (.+)$/gm)];
  expect(codes.length).toBeGreaterThan(0);
  expect(headings.map(([, heading]) => heading)).toEqual(codes);
});
