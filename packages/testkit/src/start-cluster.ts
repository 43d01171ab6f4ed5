import { all } from './all.js';
import { Controls } from './controls.js';
import { needProgram } from './find-redis.js';
import { onFreePort } from './free-port.js';
import { type ClusterNode, introduce, type RedisCluster, RunningCluster } from './redis-cluster.js';
import type { RedisServer } from './redis-server.js';
import { startRedis } from './start-redis.js';
import { until } from './until.js';

const SLOTS = 16_384;
const KNOWN_TIMEOUT_MS = 10_000;

export interface StartClusterOptions {
  /** At least 1; each gets an equal range of the slots. Default 3: fewer cannot elect anybody. */
  readonly primaries?: number;
  /** Redis replicas of each primary. Default 0. */
  readonly replicasEach?: number;
  /**
   * For how long a node may be silent before the others take it to be dead. Default 5000: a busy
   * machine does not cause a failover. A test that waits for one sets some 1000.
   */
  readonly nodeTimeoutMs?: number;
  /** Further arguments for each `redis-server`. Empty by default. */
  readonly args?: readonly string[];
}

/**
 * Starts a Redis Cluster of one's own on free ports of 127.0.0.1: all slots covered, every node
 * up, Redis replicas connected when this resolves, which takes 2 to 4 s (a primary waits 2 s
 * before it says that it is up). Needs `redis-server` or `valkey-server` on PATH: nodes in
 * containers would not reach one another by the addresses that clients need.
 */
export async function startCluster(options: StartClusterOptions = {}): Promise<RedisCluster> {
  const { primaries = 3, replicasEach = 0, nodeTimeoutMs = 5_000, args = [] } = options;
  checkCount('primaries', primaries, 1);
  checkCount('replicasEach', replicasEach, 0);
  checkCount('nodeTimeoutMs', nodeTimeoutMs, 100);
  await needProgram('startCluster');
  const controls = new Controls();
  const servers: RedisServer[] = [];
  const start = async (startedAs: ClusterNode['startedAs']): Promise<ClusterNode> => {
    const server = await startNode(nodeTimeoutMs, args);
    servers.push(server);
    const id = (await controls.of(server).cluster('MYID')) as string;
    return { id, server, startedAs };
  };
  const startMany = (count: number, startedAs: ClusterNode['startedAs']) =>
    all(Array.from({ length: count }, () => start(startedAs)));
  try {
    const [first = [], second = []] = await all([
      startMany(primaries, 'primary'),
      startMany(primaries * replicasEach, 'replica'),
    ]);
    const cluster = new RunningCluster([...first, ...second], controls, () => start('primary'));
    await form(controls, first, second);
    await cluster.untilSettled();
    return cluster;
  } catch (error) {
    controls.close();
    await Promise.allSettled(servers.map((server) => server.close()));
    throw error;
  }
}

function startNode(nodeTimeoutMs: number, args: readonly string[]): Promise<RedisServer> {
  return onFreePort((busPort) =>
    startRedis({
      args: [
        ...['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
        ...['--cluster-port', String(busPort), '--cluster-node-timeout', String(nodeTimeoutMs)],
        // Replicas stay with their primary, and their first copy of it begins at once.
        ...['--cluster-allow-replica-migration', 'no', '--repl-diskless-sync-delay', '0'],
        ...args,
      ],
    }),
  );
}

/** Gives out the slots, makes the nodes known to one another, and gives primaries their replicas. */
async function form(
  controls: Controls,
  primaries: readonly ClusterNode[],
  replicas: readonly ClusterNode[],
): Promise<void> {
  const bound = (i: number) => Math.floor((i * SLOTS) / primaries.length);
  await Promise.all(
    primaries.map(async ({ server }, i) => {
      const client = controls.of(server);
      await client.cluster('ADDSLOTSRANGE', bound(i), bound(i + 1) - 1);
      // Different from the beginning, so that they need not find out that they are alike.
      await client.cluster('SET-CONFIG-EPOCH', i + 1);
    }),
  );
  const nodes = [...primaries, ...replicas];
  await Promise.all(nodes.map((node, i) => introduce(controls, node, nodes.slice(0, i))));
  await Promise.all(
    replicas.map(({ server }, i) => {
      const { id } = primaries[i % primaries.length] as ClusterNode;
      return until(`a Redis replica knows its primary ${id}`, KNOWN_TIMEOUT_MS, () =>
        controls.of(server).cluster('REPLICATE', id),
      );
    }),
  );
}

function checkCount(field: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least) return;
  throw new TypeError(`${field} must be a whole number of at least ${least}, not ${String(value)}`);
}
