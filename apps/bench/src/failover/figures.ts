import { median, significant } from '../statistics.js';
import type { Cell } from './cell.js';
import type { Trial } from './trial.js';

/** What the trials of a cell have shown. */
export interface CellFigures extends Cell {
  readonly trials: number;
  /** Permits that were told and that the new primary does not know of, so gives out again. */
  readonly again: {
    readonly mean: number;
    readonly median: number;
    readonly worst: number;
    /** Of the trials, from 0 to 1: how many gave out none again. */
    readonly noneShare: number;
  };
  /** Decisions in all trials told though the Redis replica may not have had them. */
  readonly unreplicated: number;
  readonly told: number;
}

export function summarise(cell: Cell, trials: readonly Trial[]): CellFigures {
  // One connection: what is told and what is copied are both the first so many of what was decided.
  const again = trials.map(({ told, counted }) => Math.max(0, told - counted));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    ...cell,
    trials: trials.length,
    again: {
      mean: significant(sum(again) / again.length),
      median: median(again),
      worst: Math.max(...again),
      noneShare: significant(again.filter((permits) => permits === 0).length / again.length),
    },
    unreplicated: sum(trials.map(({ unreplicated }) => unreplicated)),
    told: sum(trials.map(({ told }) => told)),
  };
}
