import { readFileSync } from 'node:fs';
import { type ClusterNode, type FaultProxy, startFaultProxy } from '@rl/testkit';
import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parsePolicy } from '../../../../src/policy/policy.js';
import { redisStore } from '../../../../src/store/redis/redis-store.js';
import { CLUSTER_OPTIONS, type OpenCluster, openCluster } from '../../../support/cluster.js';

const HOURLY = parsePolicy('hourly', { limit: 100, window: '1h' }, '');
const page = readFileSync(new URL('../../../../../../docs/stores.md', import.meta.url), 'utf8');
const text = /^const client = new Cluster\(\[.*\], (\{[\s\S]*?\})\);$/m.exec(page)?.[1];

let opened: OpenCluster;
let proxy: FaultProxy;
let client: Cluster | undefined;
beforeAll(async () => {
  opened = await openCluster({ primaries: 1 });
});
afterAll(() => opened.close());
beforeEach(async () => {
  proxy = await startFaultProxy((opened.cluster.nodes[0] as ClusterNode).server);
});
afterEach(async () => {
  client?.disconnect();
  await proxy.close();
});

it('the options of docs/stores.md are those that are tested here', () => {
  const documented = new Function(`return ${text}`)();
  expect(documented).toEqual({ ...CLUSTER_OPTIONS, clusterRetryStrategy: expect.any(Function) });
  for (const attempt of [1, 5, 100]) {
    expect(documented.clusterRetryStrategy(attempt)).toBe(
      CLUSTER_OPTIONS.clusterRetryStrategy(attempt),
    );
  }
});

describe.each([
  ['5', Cluster5 as unknown as typeof Cluster],
  ['6', Cluster],
])('with ioredis %s', (version, Client) => {
  /** A call whose reply is lost, by a client with these options. @returns what came, and what is left */
  async function loseReply(options: object): Promise<[unknown, number]> {
    const [{ host, port }] = opened.cluster.startupNodes as [{ host: string; port: number }];
    const there = { host: proxy.connection.host as string, port: proxy.connection.port as number };
    const natMap = { [`${host}:${port}`]: there };
    client = new Client([there], { ...options, natMap });
    client.on('error', () => {}); // the call fails with it
    const store = redisStore(client, { prefix: `lost-${version}-${Object.keys(options).length}` });
    await store.consume(HOURLY, 'k', 1);
    await store.consume(HOURLY, 'k', 1);
    const lost = proxy.cutBeforeReply((request) => request.includes('evalsha'));
    const outcome = await store.consume(HOURLY, 'k', 1).catch((error: unknown) => error);
    await lost;
    const left = () => store.consume(HOURLY, 'k', 0).then(({ remaining }) => remaining, String);
    await expect.poll(left, { timeout: 5000 }).toEqual(expect.any(Number));
    return [outcome, (await left()) as number];
  }

  it('a call whose reply was lost fails at once, and is charged once', async () => {
    const [outcome, left] = await loseReply(CLUSTER_OPTIONS);
    expect(outcome).toMatchObject({ code: 'RL_STORE_FAILED', fault: 'connection' });
    expect(left).toBe(97);
  });

  it('which by the defaults of ioredis is sent again, and charged twice', async () => {
    const [outcome, left] = await loseReply({});
    expect(outcome).toMatchObject({ allowed: true, remaining: 96 });
    expect(left).toBe(96);
  });
});
