import { parseArgs } from 'node:util';
import type { AppName } from '../servers/order.js';
import { FRAMEWORKS } from './contenders.js';

/** How much is measured. */
export interface HttpEffort {
  readonly rounds: number;
  /**
   * The servers are started anew so many times within the rounds. Two processes of one program differ
   * by some percent, for as long as they live.
   */
  readonly casts: number;
  /** Of each server when it was started. */
  readonly warmUpMs: number;
  /** Of one server in one round. */
  readonly runMs: number;
}

/** What the command line asks for. */
export interface Arguments {
  /** One line of JSON alone on stdout; the tables go to stderr. */
  readonly json: boolean;
  readonly effort: HttpEffort;
  readonly frameworks: readonly AppName[];
}

/** Below that a median says little. */
const LEAST_ROUNDS = 7;

/** A server collects its garbage now and then: a run is long enough that most have some of it. */
const FULL = { casts: 3, warmUpMs: 3000, runMs: 400 };
const QUICK = { casts: 1, warmUpMs: 0, runMs: 10 };

/** Shown with every complaint about the command line. */
export const USAGE: string = `usage: npm run bench:http -- [--json] [--rounds <${LEAST_ROUNDS}-99>] [--quick] [--only <framework>]...
frameworks: ${FRAMEWORKS.join(', ')}`;

/** @throws Error that names the argument that cannot be used */
export function parseArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const unknown = values.only.find((name) => !FRAMEWORKS.some((framework) => framework === name));
  if (unknown !== undefined) {
    throw new Error(
      `--only must be one of ${FRAMEWORKS.join(', ')}, not ${JSON.stringify(unknown)}`,
    );
  }
  const wanted = FRAMEWORKS.filter((framework) => values.only.includes(framework));
  const rounds = values.rounds ?? (values.quick ? `${LEAST_ROUNDS}` : '15');
  return {
    json: values.json,
    effort: { rounds: checkRounds(rounds), ...(values.quick ? QUICK : FULL) },
    frameworks: wanted.length > 0 ? wanted : FRAMEWORKS,
  };
}

function checkRounds(value: string): number {
  const rounds = /^\d{1,2}$/.test(value) ? Number(value) : Number.NaN;
  if (rounds >= LEAST_ROUNDS) return rounds;
  throw new Error(`--rounds must be an integer from ${LEAST_ROUNDS} to 99, not ${value}`);
}
