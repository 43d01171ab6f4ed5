import { parseArgs } from 'node:util';
import { SET_UPS, type SetUp } from './set-ups.js';

/** What the command line asks for. */
export interface Arguments {
  /** One line of JSON alone on stdout; the tables go to stderr. */
  readonly json: boolean;
  /** Length of each phase. */
  readonly seconds: number;
  /** Between a region and the home store, there and back. */
  readonly roundTripMs: number;
  readonly setUps: readonly SetUp[];
}

/** Shown with every complaint about the command line. */
export const USAGE: string = `usage: npm run regions -- [--json] [--seconds <2-60>] [--round-trip <0-400>] [--only <set-up>]...
set-ups: ${SET_UPS.map(({ name }) => name).join(', ')}`;

/** @throws Error that names the argument that cannot be used */
export function parseArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '6' },
      'round-trip': { type: 'string', default: '80' },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const unknown = values.only.find((name) => !SET_UPS.some((setUp) => setUp.name === name));
  if (unknown !== undefined) {
    const names = SET_UPS.map(({ name }) => name).join(', ');
    throw new Error(`--only must be one of ${names}, not ${JSON.stringify(unknown)}`);
  }
  const wanted = SET_UPS.filter(({ name }) => values.only.includes(name));
  return {
    json: values.json,
    seconds: integer('seconds', values.seconds, 2, 60),
    roundTripMs: integer('round-trip', values['round-trip'], 0, 400),
    setUps: wanted.length > 0 ? wanted : SET_UPS,
  };
}

function integer(name: string, value: string, least: number, most: number): number {
  const number = /^\d{1,4}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new Error(`--${name} must be an integer from ${least} to ${most}, not ${value}`);
}
