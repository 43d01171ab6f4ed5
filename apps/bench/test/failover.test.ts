import { describe, expect, test } from 'vitest';
import { parseArguments } from '../src/failover/arguments.js';
import type { Cell } from '../src/failover/cell.js';
import { summarise } from '../src/failover/figures.js';
import { runTrial } from '../src/failover/trial.js';

const CELL: Cell = {
  promotion: 'command',
  death: 'machine',
  linkMs: 2,
  leased: false,
  durable: true,
};

describe('what a failover gave out again', () => {
  const trial = (told: number, counted: number, unreplicated = 0) => ({
    told,
    counted,
    unreplicated,
  });

  test('is what was told and is not counted; what is counted and was not told is no gain', () => {
    const trials = [trial(10, 10), trial(10, 4, 3), trial(10, 500), trial(10, 8, 1)];
    expect(summarise(CELL, trials)).toEqual({
      ...CELL,
      trials: 4,
      again: { mean: 2, median: 1, worst: 6, noneShare: 0.5 },
      unreplicated: 4,
      told: 40,
    });
  });
});

describe('arguments', () => {
  test('have defaults, and each is read', () => {
    expect(parseArguments([])).toEqual({ json: false, trials: 30, timeoutMs: 5 });
    const args = ['--json', '--trials', '2', '--timeout-ms', '50'];
    expect(parseArguments(args)).toEqual({ json: true, trials: 2, timeoutMs: 50 });
  });

  test.each([
    ['--trials', '0'],
    ['--trials', '1001'],
    ['--timeout-ms', '1.5'],
    ['--timeout-ms', 'x'],
  ])('%s %s is refused', (name, value) => {
    expect(() => parseArguments([name, value])).toThrow(
      `${name} must be an integer from 1 to 1000, not ${value}`,
    );
  });
});

test('a machine dies under load: what was confirmed is known to the one that takes over', async () => {
  const { told, counted, unreplicated } = await runTrial(CELL, 1000, 0);
  expect(told).toBeGreaterThan(0);
  expect(told - counted).toBeLessThanOrEqual(unreplicated);
}, 30_000);
