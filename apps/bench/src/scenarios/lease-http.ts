import { randomPrefix } from '@rl/testkit';
import { runOpenLoop } from '../http-load/open-loop.js';
import { encodeRequest } from '../http-load/request.js';
import type { Scenario, ScenarioResult, Stage } from '../scenario.js';
import { forkServer, type ServerUnderTest } from '../servers/fork-server.js';
import type { ServerOrder } from '../servers/order.js';
import { type FleetFigures, fleetFigures, fleetTable, type Quota } from './lease-http-report.js';

const REPLICAS = 8;

/** For all replicas together. */
const QUOTA: Quota = { limit: 5000, windowMs: 1000, burst: 5000 };

/** Four times what the policy admits. */
const OFFERED_PER_SECOND = 20_000;

/**
 * Requests a second of the warm-up, step by step: a cold replica is several times slower, and what
 * it cannot serve in time would pile up and be in its way for long.
 */
const WARM_UP_PER_SECOND: readonly number[] = [2500, 5000, 10_000, 10_000];

/**
 * Replicas in processes of their own that share one quota by leases over one Redis, and are offered
 * more than it admits.
 */
export const leaseHttp: Scenario = {
  name: 'lease-http',
  place: 'lease',
  async run(stage: Stage): Promise<ScenarioResult> {
    const prefix = randomPrefix();
    const order: ServerOrder = {
      app: 'fastify',
      quota: {
        by: 'rl',
        counts: 'lease',
        limit: QUOTA.limit,
        windowMs: QUOTA.windowMs,
        redisUrl: stage.redis.url,
        prefix,
      },
    };
    const replicas: ServerUnderTest[] = [];
    try {
      while (replicas.length < REPLICAS) {
        stage.signal.throwIfAborted();
        replicas.push(await forkServer(order));
      }
      const figures = await measure(replicas, stage);
      return {
        figures: { http: { replicas: REPLICAS, ...figures } },
        tables: [fleetTable(figures, REPLICAS, QUOTA)],
      };
    } finally {
      // They give back what they hold, so what is stored is removed after them.
      await Promise.all(replicas.map((replica) => replica.close()));
      await stage.redis.removeKeys(prefix);
    }
  },
};

async function measure(
  replicas: readonly ServerUnderTest[],
  { redis, effort, signal }: Stage,
): Promise<FleetFigures> {
  const ports = replicas.map(({ port }) => port);
  const cpuUs = async (): Promise<number> => {
    const each = await Promise.all(replicas.map((replica) => replica.cpuUs()));
    return each.reduce((sum, us) => sum + us, 0);
  };
  // Of another client, so that the quota that is measured is whole.
  for (const perSecond of WARM_UP_PER_SECOND) {
    const request = encodeRequest('warm-up');
    await runOpenLoop({ ports, request, perSecond, runMs: 2 * effort.warmUpMs, signal });
  }

  const before = { calls: await redis.scriptCalls(), redis: await redis.cpuUs() };
  const replicasStartUs = await cpuUs();
  const loadStart = process.cpuUsage();
  const run = await runOpenLoop({
    ports,
    request: encodeRequest('tenant'),
    perSecond: OFFERED_PER_SECOND,
    runMs: effort.fleetMs,
    signal,
  });
  const { user, system } = process.cpuUsage(loadStart);
  return fleetFigures(run, QUOTA, {
    storeCalls: (await redis.scriptCalls()) - before.calls,
    replicasCpuUs: (await cpuUs()) - replicasStartUs,
    loadCpuUs: user + system,
    redisCpuUs: (await redis.cpuUs()) - before.redis,
  });
}
