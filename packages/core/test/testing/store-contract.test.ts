import { describe, expect, it } from 'vitest';
import { storeContract } from '../../src/testing.js';
import { MEMORY, WORLDS } from '../support/worlds.js';

describe.each(WORLDS)('the contract of a store, on $name', ({ open }) => {
  for (const { name, run } of storeContract(open)) it(name, run);
});

it('the contract names each of its tests once', () => {
  const names = storeContract(MEMORY.open).map(({ name }) => name);
  expect(names.length).toBeGreaterThan(200);
  expect(new Set(names).size).toBe(names.length);
});
