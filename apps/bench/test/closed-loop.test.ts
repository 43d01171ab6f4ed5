import { expect, test } from 'vitest';
import { type Checked, runClosedLoop } from '../src/closed-loop.js';

const load = { keys: ['a', 'b', 'c'], inFlight: 2, runMs: 5 };

/** Answers in the next turn of the event loop with what `answer` says to the n-th check. */
function checked(answer: (n: number) => boolean, keys: string[] = []): Checked<boolean> {
  return {
    async check(key) {
      const n = keys.push(key);
      await new Promise((resolve) => setImmediate(resolve));
      return answer(n);
    },
    admitted: (admitted) => admitted,
  };
}

test('keys are asked for in turn, and every check that was made is answered and counted', async () => {
  const keys: string[] = [];
  const run = await runClosedLoop(
    checked(() => true, keys),
    load,
  );
  expect(run.answered).toBe(keys.length);
  expect(keys.length).toBeGreaterThanOrEqual(load.inFlight);
  expect(keys).toEqual(keys.map((_, i) => load.keys[i % load.keys.length]));
});

test('never more checks wait than the load says', async () => {
  let waiting = 0;
  let most = 0;
  const run = await runClosedLoop(
    {
      async check() {
        most = Math.max(most, ++waiting);
        await new Promise((resolve) => setImmediate(resolve));
        waiting--;
      },
      admitted: () => true,
    },
    load,
  );
  expect(most).toBe(load.inFlight);
  expect(run.answered).toBeGreaterThanOrEqual(load.inFlight);
});

test('a denial or an error fails the run: neither is what is to be measured', async () => {
  await expect(
    runClosedLoop(
      checked((n) => n !== 2),
      load,
    ),
  ).rejects.toThrow(/^1 of \d+ checks were denied$/);
  const failing: Checked<boolean> = {
    check: () => Promise.reject(new Error('no connection')),
    admitted: () => true,
  };
  await expect(runClosedLoop(failing, load)).rejects.toThrow('no connection');
});
