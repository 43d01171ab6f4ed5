import { parseArgs } from 'node:util';

/** What the command line asks for. */
export interface Arguments {
  /** End with one line of JSON. */
  readonly json: boolean;
  /** Few and short rounds: shows that the bench works, says nothing about speed. */
  readonly quick: boolean;
}

/** Shown with every complaint about the command line. */
export const USAGE = 'usage: npm run bench -- [--json] [--quick]';

/** @throws Error that names the argument, where one is not known */
export function parseArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
    },
  });
  return { json: values.json, quick: values.quick };
}
