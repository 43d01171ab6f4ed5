import { parseArgs } from 'node:util';
import type { Fault } from './fault.js';
import { FAULTS } from './faults.js';
import { LEAST_SECONDS } from './schedule.js';

/** What the command line asks for. */
export interface Arguments {
  /** One line of JSON alone on stdout; the text goes to stderr. */
  readonly json: boolean;
  readonly seconds: number;
  readonly seed: number;
  readonly replicas: number;
  readonly faults: readonly Fault[];
}

/** Shown with every complaint about the command line. */
export const USAGE: string = `usage: npm run chaos -- [--json] [--seconds <${LEAST_SECONDS}-3600>] [--seed <integer>]
                        [--replicas <1-32>] [--only <fault>]...
faults: ${FAULTS.map(({ name }) => name).join(', ')}`;

/** @throws Error that names the argument that cannot be used */
export function parseArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      replicas: { type: 'string', default: '4' },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const unknown = values.only.find((name) => !FAULTS.some((fault) => fault.name === name));
  if (unknown !== undefined) {
    const names = FAULTS.map(({ name }) => name).join(', ');
    throw new Error(`--only must be one of ${names}, not ${JSON.stringify(unknown)}`);
  }
  const wanted = FAULTS.filter(({ name }) => values.only.includes(name));
  return {
    json: values.json,
    seconds: integer('seconds', values.seconds, LEAST_SECONDS, 3600),
    seed: integer('seed', values.seed, 0, 999_999_999),
    replicas: integer('replicas', values.replicas, 1, 32),
    faults: wanted.length > 0 ? wanted : FAULTS,
  };
}

function integer(name: string, value: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new Error(`--${name} must be an integer from ${least} to ${most}, not ${value}`);
}
