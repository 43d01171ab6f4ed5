import { parseArgs } from 'node:util';

/** What the command line asks for. */
export interface Arguments {
  /** End with one line of JSON. */
  readonly json: boolean;
  /** Few and short rounds: shows that the bench works, says nothing about speed. */
  readonly quick: boolean;
  /** Names of the scenarios to run; all where there is none. */
  readonly only: readonly string[];
}

/** Shown with every complaint about the command line. */
export const USAGE = 'usage: npm run bench -- [--json] [--quick] [--only <scenario>]...';

/**
 * @param scenarios the names `--only` may give
 * @throws Error that names the argument, where one is not known
 */
export function parseArguments(args: readonly string[], scenarios: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const unknown = values.only.find((name) => !scenarios.includes(name));
  if (unknown !== undefined) {
    throw new Error(
      `--only must be one of ${scenarios.join(', ')}, not ${JSON.stringify(unknown)}`,
    );
  }
  return values;
}
