/**
 * What ends. Of a process what it has handed to the network arrives, and its Redis replica is promoted
 * when it has read that. With a machine, what is on its way to the Redis replica is lost: of a link of
 * 2 ms about the last 2 ms. The app hears of either at once.
 */
export type Death = 'process' | 'machine';

/** What the trials of one row have in common. */
export interface Cell {
  /** Who promotes the Redis replica: a command of the trial's, or a Sentinel. */
  readonly promotion: 'command' | 'sentinel';
  readonly death: Death;
  /** With `durability`, of one Redis replica. */
  readonly durable: boolean;
  readonly leased: boolean;
  /** How much later the Redis replica hears of a write. */
  readonly linkMs: number;
}

const BOTH = [false, true] as const;

/** Over a link of no length nothing is on its way, so that a machine loses what a process does. */
function linked(linkMs: number): Pick<Cell, 'linkMs' | 'death'> {
  return { linkMs, death: linkMs === 0 ? 'process' : 'machine' };
}

export const CELLS: readonly Cell[] = [
  ...([0, 2] as const).flatMap((linkMs) =>
    BOTH.flatMap((leased) =>
      BOTH.map((durable): Cell => ({ promotion: 'command', ...linked(linkMs), leased, durable })),
    ),
  ),
  ...BOTH.map((durable): Cell => ({ promotion: 'sentinel', ...linked(2), leased: false, durable })),
];
