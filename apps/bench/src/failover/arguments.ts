import { parseArgs } from 'node:util';

/** What the command line asks for. */
export interface Arguments {
  /** One line of JSON alone on stdout; the text goes to stderr. */
  readonly json: boolean;
  /** Primaries killed for each row. */
  readonly trials: number;
  /** `durability.timeoutMs` where there is durability. */
  readonly timeoutMs: number;
}

/** Shown with every complaint about the command line. */
export const USAGE =
  'usage: npm run failover -- [--json] [--trials <1-1000>] [--timeout-ms <1-1000>]';

/** @throws Error that names the argument that cannot be used */
export function parseArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      trials: { type: 'string', default: '30' },
      'timeout-ms': { type: 'string', default: '5' },
    },
  });
  return {
    json: values.json,
    trials: upToThousand('trials', values.trials),
    timeoutMs: upToThousand('timeout-ms', values['timeout-ms']),
  };
}

function upToThousand(name: string, text: string): number {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= 1000) return value;
  throw new Error(`--${name} must be an integer from 1 to 1000, not ${text}`);
}
