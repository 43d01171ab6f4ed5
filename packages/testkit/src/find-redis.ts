import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { parseRedisUrl } from './address.js';

/** How a Redis can be had on this machine. */
export type FoundRedis =
  /** Runs already. It is somebody's server: never stopped, paused or flushed. */
  | { readonly kind: 'url'; readonly url: string }
  /** A `redis-server` or `valkey-server` to start. */
  | { readonly kind: 'binary'; readonly path: string }
  /** A container to start. */
  | { readonly kind: 'container' };

/** A Redis that tests can start, and therefore stop. */
export type StartableRedis = Exclude<FoundRedis, { kind: 'url' }>;

/** The two questions put to the machine. */
export interface RedisProbes {
  /** The full path of a program on PATH, or undefined. */
  which(program: string): Promise<string | undefined>;
  /** Whether a Docker engine answers. Asked only where no program was found: it is slow. */
  dockerAnswers(): Promise<boolean>;
}

type Env = Readonly<Record<string, string | undefined>>;

const PROGRAMS = ['redis-server', 'valkey-server'];

const HOW_TO_GET_ONE = [
  '  Debian, Ubuntu:  apt-get install redis-server',
  '  macOS:           brew install redis',
  '  anywhere:        start Docker',
].join('\n');

/**
 * Looks for a Redis: `REDIS_URL`, then `redis-server` or `valkey-server` on PATH, then Docker.
 * An empty `REDIS_URL` counts as absent. Throws when there is none, saying how to get one.
 */
export async function findRedis(
  env: Env = process.env,
  probes: RedisProbes = machineProbes(env),
): Promise<FoundRedis> {
  if (env.REDIS_URL) {
    return { kind: 'url', url: parseRedisUrl(env.REDIS_URL, 'REDIS_URL').url };
  }
  const found = await lookForStartable(probes);
  if (found !== undefined) return found;
  throw new Error(
    'No Redis: REDIS_URL is not set, neither redis-server nor valkey-server is on PATH, and no ' +
      `Docker engine answers. One of these helps:\n${HOW_TO_GET_ONE}\n` +
      '  or set:          REDIS_URL=redis://host:port',
  );
}

/** As `findRedis`, for tests that stop or pause their server: `REDIS_URL` does not count. */
export async function findStartableRedis(
  env: Env = process.env,
  probes: RedisProbes = machineProbes(env),
): Promise<StartableRedis> {
  const found = await lookForStartable(probes);
  if (found !== undefined) return found;
  throw new Error(
    'This test stops and pauses its Redis, so it starts one of its own and cannot use REDIS_URL. ' +
      `There is none to start; one of these helps:\n${HOW_TO_GET_ONE}`,
  );
}

/**
 * The program to start where it must run on this very machine: a container is not good enough.
 * @param what needs it, for the error
 */
export async function needProgram(
  what: string,
  env: Env = process.env,
  probes: RedisProbes = machineProbes(env),
): Promise<string> {
  for (const program of PROGRAMS) {
    const path = await probes.which(program);
    if (path !== undefined) return path;
  }
  throw new Error(
    `${what} starts servers that know one another by their addresses, which containers do not ` +
      'have for the tests. It needs redis-server or valkey-server on PATH:\n' +
      HOW_TO_GET_ONE.split('\n').slice(0, 2).join('\n'),
  );
}

async function lookForStartable(probes: RedisProbes): Promise<StartableRedis | undefined> {
  for (const program of PROGRAMS) {
    const path = await probes.which(program);
    if (path !== undefined) return { kind: 'binary', path };
  }
  return (await probes.dockerAnswers()) ? { kind: 'container' } : undefined;
}

function machineProbes(env: Env): RedisProbes {
  return {
    async which(program) {
      for (const folder of (env.PATH ?? '').split(delimiter)) {
        if (folder === '') continue;
        const path = join(folder, program);
        const runs = await access(path, constants.X_OK).then(
          () => true,
          () => false,
        );
        if (runs) return path;
      }
      return undefined;
    },
    async dockerAnswers() {
      const { getContainerRuntimeClient } = await import('testcontainers');
      return getContainerRuntimeClient().then(
        () => true,
        () => false,
      );
    },
  };
}
