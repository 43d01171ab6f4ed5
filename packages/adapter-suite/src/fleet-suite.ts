import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { randomPrefix, sharedRedis } from '@rl/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askAtOnce } from './client.js';
import type { Target } from './framework.js';
import { REPLICA_LIMIT, type ReplicaOrder } from './replica.js';

const REPLICAS = 4;
const REQUESTS_EACH = 250;

/**
 * One quota over several processes.
 *
 * @param program a program that calls `runReplica`
 */
export function describeFleet(name: string, program: URL): void {
  describe(`${name}: ${REPLICAS} processes with one quota in Redis`, () => {
    const replicas: ChildProcess[] = [];
    const targets: Target[] = [];

    beforeAll(async () => {
      const order: ReplicaOrder = { redisUrl: (await sharedRedis()).url, prefix: randomPrefix() };
      for (let i = 0; i < REPLICAS; i++) {
        replicas.push(fork(program, [JSON.stringify(order)], { execArgv: [] }));
      }
      targets.push(...(await Promise.all(replicas.map(targetOf))));
    });

    afterAll(async () => {
      const ends = replicas.map(endOf);
      for (const replica of replicas) if (replica.connected) replica.disconnect();
      expect(await Promise.all(ends)).toEqual(replicas.map(() => 'exit code 0'));
    });

    test(`${REPLICAS * REQUESTS_EACH} requests at once: exactly ${REPLICA_LIMIT} pass`, async () => {
      const counts = await Promise.all(targets.map((target) => askAtOnce(target, REQUESTS_EACH)));
      const sum = (status: number): number =>
        counts.reduce((total, count) => total + (count[status] ?? 0), 0);
      expect(sum(200)).toBe(REPLICA_LIMIT);
      expect(sum(429)).toBe(REPLICAS * REQUESTS_EACH - REPLICA_LIMIT);
    });
  });
}

/** Fails where the process ends first. */
async function targetOf(replica: ChildProcess): Promise<Target> {
  const first = await Promise.race([once(replica, 'message'), endOf(replica)]);
  if (typeof first === 'string') throw new Error(`a replica ended with ${first}`);
  return first[0] as Target;
}

async function endOf(replica: ChildProcess): Promise<string> {
  if (replica.exitCode === null && replica.signalCode === null) await once(replica, 'exit');
  const { exitCode, signalCode } = replica;
  return signalCode === null ? `exit code ${exitCode}` : `signal ${signalCode}`;
}
