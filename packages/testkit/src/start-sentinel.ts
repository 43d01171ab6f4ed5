import { all } from './all.js';
import { Controls, infoField, portOf } from './controls.js';
import { needProgram } from './find-redis.js';
import { freePort, onFreePort } from './free-port.js';
import { RedisProcess } from './redis-process.js';
import type { RedisServer } from './redis-server.js';
import { NAME, RunningGroup, type SentinelGroup } from './sentinel-group.js';
import { startRedis } from './start-redis.js';
import { until } from './until.js';

const SETTLE_TIMEOUT_MS = 30_000;

export interface StartSentinelOptions {
  /** Redis replicas of the primary. Default 1. */
  readonly replicas?: number;
  /** Default 1. More than half of them must agree that the primary is dead. */
  readonly sentinels?: number;
  /** For how long a primary may be silent before a Sentinel takes it to be dead. Default 1000. */
  readonly downAfterMs?: number;
  /**
   * How Redis replicas reach the primary, for a test that delays or cuts replication: the port of
   * 127.0.0.1 of something that leads there, as a fault proxy. By default its own. After a
   * failover the new primary is reached by its own port. A Sentinel that sees the detour for 60 s
   * on end has the Redis replica go the straight way; with several of them, a failed election is
   * tried again only after 120 s.
   */
  readonly replicationVia?: (primary: RedisServer) => number | Promise<number>;
  /** Further arguments for the primary and its Redis replicas. Empty by default. */
  readonly args?: readonly string[];
}

/**
 * Starts a primary, its Redis replicas and Sentinels on free ports of 127.0.0.1. Replicas are
 * connected, and every Sentinel knows all of them and all others, when this resolves. Needs
 * `redis-server` or `valkey-server` on PATH.
 */
export async function startSentinel(options: StartSentinelOptions = {}): Promise<SentinelGroup> {
  const { replicas = 1, sentinels = 1, downAfterMs = 1_000, args = [], replicationVia } = options;
  checkCount('replicas', replicas);
  checkCount('sentinels', sentinels);
  checkCount('downAfterMs', downAfterMs);
  const program = await needProgram('startSentinel');
  const controls = new Controls();
  const started: RedisServer[] = [];
  const keep = async (server: Promise<RedisServer>): Promise<RedisServer> => {
    started.push(await server);
    return server;
  };
  const many = (count: number, start: () => Promise<RedisServer>) =>
    all(Array.from({ length: count }, () => keep(start())));
  try {
    const data = ['--repl-diskless-sync-delay', '0', ...args];
    const primary = await keep(startRedis({ args: data }));
    const port = (await replicationVia?.(primary)) ?? portOf(primary);
    const copies = await many(replicas, () =>
      startRedis({ args: ['--replicaof', `127.0.0.1 ${port}`, ...data] }),
    );
    await untilCopied(controls, primary, copies);
    const config = configOf(primary, sentinels, downAfterMs, replicationVia !== undefined);
    const watchers = await many(sentinels, () => startWatcher(program, config));
    await untilWatched(controls, watchers, replicas);
    return new RunningGroup([primary, ...copies], watchers, controls);
  } catch (error) {
    controls.close();
    await Promise.allSettled(started.map((server) => server.close()));
    throw error;
  }
}

function configOf(
  primary: RedisServer,
  sentinels: number,
  downAfterMs: number,
  detour: boolean,
): string {
  const quorum = Math.floor(sentinels / 2) + 1;
  // Twice this passes before a failed election is tried again, and this before a Redis replica that
  // does not follow the primary's own address is corrected.
  const failoverMs = detour ? 60_000 : 2_000;
  return [
    `sentinel monitor ${NAME} 127.0.0.1 ${portOf(primary)} ${quorum}`,
    `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
    `sentinel failover-timeout ${NAME} ${failoverMs}`,
    '',
  ].join('\n');
}

function startWatcher(program: string, config: string): Promise<RedisServer> {
  const start = (port: number) => RedisProcess.start(program, { port }, ['--sentinel'], config);
  return onFreePort(start, freePort);
}

async function untilCopied(
  controls: Controls,
  primary: RedisServer,
  copies: readonly RedisServer[],
): Promise<void> {
  await until(`Redis replicas follow ${primary.url}`, SETTLE_TIMEOUT_MS, async () => {
    const infos = await all(copies.map((copy) => controls.of(copy).info('replication')));
    return infos.every((info) => infoField(info, 'master_link_status') === 'up') || undefined;
  });
}

async function untilWatched(
  controls: Controls,
  watchers: readonly RedisServer[],
  replicas: number,
): Promise<void> {
  await until('Sentinels know one another and the servers', SETTLE_TIMEOUT_MS, async () => {
    const told = await all(
      watchers.map((watcher) => controls.of(watcher).call('SENTINEL', 'MASTER', NAME)),
    );
    const knowAll = told.every((reply) => {
      const facts = reply as string[];
      const fact = (name: string) => facts[facts.indexOf(name) + 1];
      return (
        fact('flags') === 'master' &&
        fact('num-slaves') === String(replicas) &&
        fact('num-other-sentinels') === String(watchers.length - 1)
      );
    });
    return knowAll || undefined;
  });
}

function checkCount(field: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new TypeError(`${field} must be a whole number of at least 1, not ${String(value)}`);
}
