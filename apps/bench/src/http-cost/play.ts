import { randomPrefix } from '@rl/testkit';
import { HttpClosedLoop } from '../http-load/closed-loop.js';
import { encodeRequest } from '../http-load/request.js';
import type { RedisUnderTest } from '../redis-under-test.js';
import { playRounds, type Round } from '../rounds.js';
import { forkServer, type ServerUnderTest } from '../servers/fork-server.js';
import type { AppName } from '../servers/order.js';
import type { HttpEffort } from './arguments.js';
import { contendersOf, type HttpContender } from './contenders.js';
import { askWhatIsTold } from './told.js';

/** Each has one request under way at any time. */
export const CONNECTIONS = 32;

/**
 * Clients that take turns. More than there are connections, so that no two requests under way are of
 * one client: those of ours would become one entry of a call to Redis, which is cheaper than what
 * an app with many clients sees. Every contender gets the same clients by the same header.
 */
const CLIENTS: readonly string[] = Array.from({ length: 100 }, (_, i) => `client-${i}`);

/** Out of reach, so that all is admitted, and so slow to refill that what was counted stays so. */
const LIMIT = 20_000;
const WINDOW_MS = 20 * 86_400_000;

/** Of one server in one round. */
export interface Measurement {
  /** CPU time of the server's process for each request answered. */
  readonly cpuUs: number;
  readonly perSecond: number;
  /** Calls of scripts in Redis for each request. */
  readonly storeCalls: number;
}

/** What one server did in all. */
export interface Account {
  /** Requests, with those of the warm-up. */
  readonly answered: number;
  /** Those of them that it has charged to its clients, by its own headers; undefined for the bare app. */
  readonly counted: number | undefined;
  readonly headers: readonly string[];
}

export interface FrameworkRun {
  readonly app: AppName;
  readonly contenders: readonly HttpContender[];
  readonly rounds: readonly Round<Measurement>[];
  readonly accounts: ReadonlyMap<string, Account>;
}

interface Opened {
  readonly contender: HttpContender;
  readonly server: ServerUnderTest;
  readonly loop: HttpClosedLoop;
}

/** Measures all servers of a framework in the same rounds, and removes what they stored. */
export async function playFramework(
  app: AppName,
  redis: RedisUnderTest,
  effort: HttpEffort,
  signal: AbortSignal,
): Promise<FrameworkRun> {
  const { rounds, casts } = effort;
  const runs: FrameworkRun[] = [];
  for (let i = 0; i < casts; i++) {
    const share = Math.ceil(((i + 1) * rounds) / casts) - Math.ceil((i * rounds) / casts);
    runs.push(await playCast(app, redis, { ...effort, rounds: share }, signal));
  }
  const contenders = contendersOf(app);
  return {
    app,
    contenders,
    rounds: runs.flatMap((run) => run.rounds),
    accounts: new Map(contenders.map(({ name }) => [name, sumOf(name, runs)])),
  };
}

/** What the servers of one name have done in all casts. */
function sumOf(name: string, runs: readonly FrameworkRun[]): Account {
  const accounts = runs.flatMap((run) => run.accounts.get(name) ?? []);
  const counts = accounts.flatMap(({ counted }) => counted ?? []);
  return {
    answered: accounts.reduce((sum, { answered }) => sum + answered, 0),
    counted: counts.length > 0 ? counts.reduce((sum, count) => sum + count, 0) : undefined,
    headers: accounts[0]?.headers ?? [],
  };
}

/** Some of the rounds, with servers that are started for them. */
async function playCast(
  app: AppName,
  redis: RedisUnderTest,
  effort: HttpEffort,
  signal: AbortSignal,
): Promise<FrameworkRun> {
  const startMs = performance.now();
  const contenders = contendersOf(app);
  // Each of them has a prefix of its own below this one.
  const prefix = randomPrefix();
  const opened: Opened[] = [];
  try {
    for (const contender of contenders) {
      signal.throwIfAborted();
      opened.push(await open(app, contender, redis.url, `${prefix}${contender.name}:`));
    }
    const answered = new Map<string, number>();
    const rounds = await playRounds(
      opened.map(({ contender: { name }, server, loop }) => ({
        name,
        measure: async () => {
          const { requests, ...measurement } = await measure(server, loop, effort.runMs, redis);
          answered.set(name, (answered.get(name) ?? 0) + requests);
          return measurement;
        },
      })),
      { ...effort, signal },
    );
    const accounts = new Map<string, Account>();
    for (const one of opened) {
      const { name } = one.contender;
      accounts.set(name, await settle(one, answered.get(name) ?? 0, performance.now() - startMs));
    }
    return { app, contenders, rounds, accounts };
  } finally {
    for (const { loop } of opened) loop.close();
    await Promise.all(opened.map(({ server }) => server.close()));
    await redis.removeKeys(prefix);
  }
}

async function open(
  app: AppName,
  contender: HttpContender,
  redisUrl: string,
  prefix: string,
): Promise<Opened> {
  const { limits } = contender;
  const quota = limits && { ...limits, limit: LIMIT, windowMs: WINDOW_MS, redisUrl, prefix };
  const server = await forkServer({ app, quota });
  try {
    const loop = await HttpClosedLoop.open(server.port, CLIENTS.map(encodeRequest), CONNECTIONS);
    return { contender, server, loop };
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function measure(
  server: ServerUnderTest,
  loop: HttpClosedLoop,
  runMs: number,
  redis: RedisUnderTest,
): Promise<Measurement & { readonly requests: number }> {
  const startCalls = await redis.scriptCalls();
  const startUs = await server.cpuUs();
  const { answered, elapsedMs } = await loop.run(runMs);
  const cpuUs = (await server.cpuUs()) - startUs;
  const calls = (await redis.scriptCalls()) - startCalls;
  return {
    requests: answered,
    cpuUs: cpuUs / answered,
    perSecond: (answered / elapsedMs) * 1000,
    storeCalls: calls / answered,
  };
}

/**
 * What a server has done, by its own word: with one more request of each client.
 * @throws Error where it has not charged each request once, but for what was refilled meanwhile
 */
async function settle(
  { contender: { name, limits }, server }: Opened,
  measured: number,
  elapsedMs: number,
): Promise<Account> {
  const { headers, remaining } = await askWhatIsTold(server.port, CLIENTS);
  const answered = measured + CLIENTS.length;
  if (limits === undefined) return { answered, counted: undefined, headers };
  if (remaining === undefined) throw new Error(`${name} tells its clients nothing`);
  const counted = CLIENTS.length * LIMIT - remaining;
  const refilled = CLIENTS.length * Math.ceil((elapsedMs * LIMIT) / WINDOW_MS);
  if (counted > answered || counted < answered - refilled) {
    throw new Error(`${name} has answered ${answered} requests and charged ${counted}`);
  }
  return { answered, counted, headers };
}
