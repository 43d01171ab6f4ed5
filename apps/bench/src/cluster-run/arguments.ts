import { parseArgs } from 'node:util';

/** What the command line asks for. */
export interface Arguments {
  /** One line of JSON alone on stdout; the text goes to stderr. */
  readonly json: boolean;
  /** Of load, without the start of the cluster and the count at the end. */
  readonly seconds: number;
  readonly replicas: number;
}

/** Shown with every complaint about the command line. */
export const USAGE = 'usage: npm run cluster -- [--json] [--seconds <2-600>] [--replicas <1-16>]';

/** @throws Error that names the argument that cannot be used */
export function parseArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '10' },
      replicas: { type: 'string', default: '4' },
    },
  });
  return {
    json: values.json,
    seconds: integer('seconds', values.seconds, 2, 600),
    replicas: integer('replicas', values.replicas, 1, 16),
  };
}

function integer(name: string, value: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new Error(`--${name} must be an integer from ${least} to ${most}, not ${value}`);
}
