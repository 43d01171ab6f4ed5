import { startRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { encodePartitionKey } from '../../../src/key/partition-key.js';
import { parsePolicy } from '../../../src/policy/policy.js';
import { bucketKey } from '../../../src/store/redis/bucket-key.js';
import { slotOf } from '../../../src/store/redis/slot.js';
import { closedPort } from '../../support/ports.js';

it('tells the slot of a bucket as a Redis of a Cluster does', async () => {
  const port = String(await closedPort());
  const node = await startRedis({ args: ['--cluster-enabled', 'yes', '--cluster-port', port] });
  const client = new Redis(node.connection);
  const policy = parsePolicy('tenant', { limit: 1, window: '1s' }, 'tenant');
  const strange = ['123456789', 'é', '{a}', '%', ' ', '\ud800', 'x'.repeat(200), 'x'.repeat(201)];
  const keys = [...strange, ...Array.from({ length: 300 }, (_, i) => `tenant-${i ** 3}`)];

  const told = keys.map((key) => slotOf(encodePartitionKey(key)));
  const asked = keys.map((key) => client.cluster('KEYSLOT', bucketKey('rl', policy, key)));

  expect(told).toEqual(await Promise.all(asked));
  client.disconnect();
  await node.close();
});

it('is CRC-16/XMODEM, of which the specification of Redis Cluster gives a value', () => {
  expect(slotOf('123456789')).toBe(0x31c3);
  expect(slotOf('')).toBe(0);
});
