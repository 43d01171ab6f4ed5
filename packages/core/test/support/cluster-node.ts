import { type RedisServer, startRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { closedPort } from './ports.js';

/** A Redis Cluster of one node that has all slots. */
export async function startClusterNode(): Promise<RedisServer> {
  const busPort = String(await closedPort());
  const address = ['--cluster-announce-ip', '127.0.0.1', '--cluster-port', busPort];
  const args = ['--cluster-enabled', 'yes', ...address];
  const node = await startRedis({ args });
  const client = new Redis(node.connection);
  await client.cluster('ADDSLOTSRANGE', 0, 16383);
  // A node waits some seconds before it takes its cluster to be up.
  await expect
    .poll(() => client.cluster('INFO'), { timeout: 15_000 })
    .toContain('cluster_state:ok');
  client.disconnect();
  return node;
}
