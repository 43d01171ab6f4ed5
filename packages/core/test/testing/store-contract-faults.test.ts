import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { storeContract } from '../../src/testing.js';
import { AsyncDelegate, Delegate, Translating } from './delegate.js';
import { FAULTS } from './faults.js';
import { LEASE_FAULTS } from './lease-faults.js';

describe('the contract finds a store that', () => {
  it.each([...FAULTS, ...LEASE_FAULTS])('$name', async ({ break: breakStore, foundBy, says }) => {
    const tests = storeContract(async (clock) => {
      const sound = memoryStore({ clock });
      return { store: breakStore(sound), close: () => sound.close() };
    }).filter(({ name }) => name.includes(foundBy));
    expect(tests).not.toHaveLength(0);
    const failures = [];
    for (const { name, run } of tests) {
      const error = await run().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error !== undefined) failures.push({ name, error });
    }
    expect(failures).not.toHaveLength(0);
    for (const { error } of failures) expect(error).toBeInstanceOf(Error);
    expect(failures.map(({ error }) => (error as Error).message)).toContainEqual(
      expect.stringMatching(says),
    );
  });
});

describe.each([Delegate, AsyncDelegate, Translating])(
  'what broken stores are made of: %o',
  (Sound) => {
    const tests = storeContract(async (clock) => {
      const store = new Sound(memoryStore({ clock }));
      return { store, close: () => store.close() };
    });
    it('breaks nothing by itself', async () => {
      for (const { name, run } of tests) await expect(run(), name).resolves.toBeUndefined();
    });
  },
);

describe('a test of the contract', () => {
  const [first] = storeContract(async (clock) => {
    const sound = memoryStore({ clock });
    await sound.close();
    return {
      store: sound,
      close: () => Promise.reject(new Error('cannot close either')),
    };
  });

  it('says what failed first where closing fails too', async () => {
    await expect(first?.run()).rejects.toThrow(/^step 1, .*: the store is closed$/);
  });

  it('fails where the store cannot be closed', async () => {
    const [test] = storeContract(async (clock) => ({
      store: memoryStore({ clock }),
      close: () => Promise.reject(new Error('cannot close')),
    }));
    await expect(test?.run()).rejects.toThrow('cannot close');
  });

  it('has a store of its own, opened when it runs', async () => {
    let opened = 0;
    const tests = storeContract(async (clock) => {
      opened++;
      const store = memoryStore({ clock });
      return { store, close: () => store.close() };
    });
    expect(opened).toBe(0);
    await tests[0]?.run();
    await tests[0]?.run();
    expect(opened).toBe(2);
  });
});
