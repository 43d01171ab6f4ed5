import { parseArgs } from 'node:util';
import { STORES, type StoreChoice } from './store.js';

export const MAX_LIMIT = 1000;

/** What the user asked for. */
export interface Options {
  readonly help: boolean;
  readonly json: boolean;
  /** Requests per hour. */
  readonly limit: number;
  readonly store: StoreChoice;
}

/** An argument that cannot be used; the message says which and why. */
export class UsageError extends Error {}

export const HELP: string = `Usage: npm run demo -- [options]     or: node apps/fleet-demo/dist/main.mjs [options]

Runs an HTTP service as 4 replicas, then 8, under the load of one customer, and
shows what a quota comes to with a limiter in each replica and with a shared one.
Takes about 15 s; longer with a limit above 100.

  --limit N     the quota, in requests per hour: 1 to ${MAX_LIMIT}, default 100
  --store KIND  where the shared quota is kept: auto, redis or memory
                auto (default) is Redis where one is found (REDIS_URL, then
                redis-server or valkey-server on PATH, then a container), else memory
  --json        print one line of JSON and no tables
  --help        print this

Exit code: 0; 1 where the shared quota was overshot, or a request or a replica
failed; 2 for options that cannot be used.
`;

/** @throws UsageError */
export function parseOptions(args: readonly string[]): Options {
  const { help, json, limit, store } = parse(args);
  return { help, json, limit: parseLimit(limit), store: parseStore(store) };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        json: { type: 'boolean', default: false },
        limit: { type: 'string', default: '100' },
        store: { type: 'string', default: 'auto' },
      },
    }).values;
  } catch (error) {
    // Node's message goes on with advice about "--" that does not apply here.
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.split('. ')[0] as string);
  }
}

function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new UsageError(
    `--limit must be an integer from 1 to ${MAX_LIMIT}, got ${JSON.stringify(text)}`,
  );
}

function parseStore(text: string): StoreChoice {
  const store = STORES.find((name) => name === text);
  if (store !== undefined) return store;
  throw new UsageError(`--store must be one of ${STORES.join(', ')}, got ${JSON.stringify(text)}`);
}
