import { once } from 'node:events';
import { type RedisServer, startRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  askUntil,
  kindsOf,
  LONG,
  type Replica,
  type ReplicaOptions,
  startReplica,
  take,
  untilStore,
} from '../support/replica.js';

const HOURLY = { p: { limit: 100, window: '1h' } };

let server: RedisServer;
let admin: Redis;
const open: Replica[] = [];

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.connection);
  admin.on('error', () => {});
});
beforeEach(() => admin.flushall());
afterEach(async () => {
  await Promise.all(open.splice(0).map((replica) => replica.close()));
});
afterAll(async () => {
  admin.disconnect();
  await server.close();
});

async function start(options: ReplicaOptions): Promise<Replica> {
  const replica = await startReplica(server, options);
  open.push(replica);
  return replica;
}

function startFleet(count: number, options: ReplicaOptions): Promise<Replica[]> {
  return Promise.all(
    Array.from({ length: count }, (_, i) => start({ ...options, replicaId: `r${i}` })),
  );
}

async function refuse(replica: Replica): Promise<void> {
  const closed = once(replica.client, 'close');
  await replica.cable.refuse();
  await closed;
}

describe('one replica', () => {
  it('O-01 a client that is known to have no connection is not asked: nothing waits', async () => {
    const replica = await start({ policies: HOURLY, fallback: { deadline: '1m' } });
    await untilStore(replica.limiter, 'k');
    await refuse(replica);
    const decisions = await Promise.all(
      Array.from({ length: 100 }, () => replica.limiter.consume({ p: 'k' })),
    );
    for (const decision of decisions) {
      expect(decision).toMatchObject({
        origin: 'fallback',
        fallback: { mode: 'local', fault: 'connection' },
      });
    }
  });

  it('O-03 a denial is an answer: the fallback is not asked', async () => {
    const policies = { p: { limit: 2, window: '1h', fallback: 'open' } as const };
    const { limiter, events } = await start({ policies, fallback: { deadline: LONG } });
    const decisions = [await limiter.consume({ p: 'k' }, { cost: 3 })];
    for (let i = 0; i < 5; i++) decisions.push(await limiter.consume({ p: 'k' }));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([
      false,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(decisions.filter(({ origin }) => origin === 'fallback')).toEqual([]);
    expect(kindsOf(events)).toEqual({ replicas: 1 });
  });

  it('O-04 decides by Redis again, without a restart, and tells of both switches', async () => {
    const replica = await start({ policies: HOURLY, fallback: { deadline: '50ms' } });
    await untilStore(replica.limiter, 'k');
    await refuse(replica);
    await askUntil(replica.limiter, 'k', () => replica.limiter.health().store === 'lost');
    await replica.cable.accept();
    await untilStore(replica.limiter, 'k');
    expect(replica.limiter.health()).toEqual({ store: 'up', replicas: 1, owed: 0, forgotten: 0 });
    const { 'store-failed': _, ...kinds } = kindsOf(replica.events);
    expect(kinds).toEqual({
      replicas: 1,
      'store-lost': 1,
      'store-found': 1,
      reconciled: 1,
      'store-back': 1,
    });
  });

  it.each([
    ['open', true],
    ['closed', false],
  ] as const)('O-07 a timeout does not look like an answer: %s', async (mode, allowed) => {
    const replica = await start({ policies: HOURLY, fallback: { mode, deadline: '20ms' } });
    await once(replica.client, 'ready');
    replica.cable.delay({ toClientMs: 10_000 });
    const decisions = [];
    for (let i = 0; i < 3; i++) decisions.push(await replica.limiter.consume({ p: 'k' }));
    for (const decision of decisions) {
      expect(decision).toMatchObject({
        allowed,
        origin: 'fallback',
        fallback: { mode, fault: 'timeout' },
      });
    }
    const faults = replica.events.flatMap((event) => ('fault' in event ? [event.fault] : []));
    expect(new Set(faults)).toEqual(new Set(['timeout']));
  });

  it('a stalled event loop is not held against a Redis that answered in time', async () => {
    const replica = await start({ policies: HOURLY, fallback: { deadline: '100ms' } });
    await untilStore(replica.limiter, 'k');
    const sent = replica.limiter.consume({ p: 'k' });
    await new Promise((resolve) => setImmediate(resolve));
    const unsent = replica.limiter.consume({ p: 'k' });
    stall(400);
    expect(await sent).toMatchObject({ origin: 'store' });
    expect(await unsent).toMatchObject({ origin: 'store' });
    expect(kindsOf(replica.events)).toEqual({ replicas: 1 });
  });

  it('what is already lost when the outage begins does not come twice: a spent quota stays spent', async () => {
    const { limiter, cable, client } = await start({
      policies: HOURLY,
      fallback: { deadline: LONG },
    });
    expect(await take(limiter, 90)).toBe(90);
    const closed = once(client, 'close');
    await cable.refuse();
    await closed;
    expect(await take(limiter, 100)).toBe(10);
  });
});

describe('a fleet', () => {
  it.each(['token-bucket', 'gcra', 'fixed-window', 'sliding-window', 'sliding-log'] as const)(
    'O-08 four replicas that are told so admit 100 of 100 together, with %s',
    async (algorithm) => {
      const policies = { p: { limit: 100, window: '1h', algorithm } };
      const fleet = await startFleet(4, { policies, fallback: { replicas: 4, deadline: '5s' } });
      await Promise.all(fleet.map(({ client }) => once(client, 'ready')));
      await Promise.all(fleet.map(refuse));
      const admitted = await Promise.all(fleet.map(({ limiter }) => take(limiter, 100)));
      expect(admitted).toEqual([25, 25, 25, 25]);
    },
  );

  it('O-08 replicas that nobody counted say so', async () => {
    const replica = await start({ policies: HOURLY, fallback: { replicas: undefined } });
    await once(replica.client, 'ready');
    await refuse(replica);
    await askUntil(replica.limiter, 'k', () => replica.limiter.health().store === 'lost');
    expect(replica.events).toContainEqual(
      expect.objectContaining({ type: 'replicas-unknown', replicas: 1 }),
    );
  });

  it('counts itself by heartbeats', async () => {
    const fallback = { replicas: undefined, deadline: LONG };
    const fleet = await startFleet(4, { policies: HOURLY, fallback });
    for (const { limiter } of fleet) await untilStore(limiter, 'k');
    // Each learns of those that came before it; the first three beat again.
    await Promise.all(fleet.map(({ store }) => store.heartbeat()));
    expect(fleet[3]?.limiter.health().replicas).toBe(4);
  });

  it('what the fallback gave away is not given away once more', async () => {
    const fallback = { replicas: 4, deadline: '200ms' };
    const fleet = await startFleet(4, { policies: HOURLY, fallback });
    await Promise.all(fleet.map(({ limiter }) => untilStore(limiter, 'k')));
    await Promise.all(fleet.map(refuse));
    const before = await Promise.all(fleet.map(({ limiter }) => take(limiter, 20)));
    expect(before).toEqual([20, 20, 20, 20]);
    await Promise.all(fleet.map(({ cable }) => cable.accept()));
    const during = await Promise.all(
      fleet.map(({ limiter }) => askUntil(limiter, 'k', ({ origin }) => origin === 'store')),
    );
    const after = await Promise.all(fleet.map(({ limiter }) => take(limiter, 50)));
    const sum = [...before, ...during, ...after].reduce((total, count) => total + count, 0);
    expect(sum).toBe(100);
    for (const { limiter } of fleet) expect(limiter.health().store).toBe('up');
  });

  it('a replica that is cut off alone pays before it asks', async () => {
    const fallback = { replicas: 2, deadline: '200ms' };
    const [cut, other] = (await startFleet(2, { policies: HOURLY, fallback })) as [
      Replica,
      Replica,
    ];
    await Promise.all([cut, other].map(({ limiter }) => untilStore(limiter, 'k')));
    await refuse(cut);
    expect(await take(cut.limiter, 60)).toBe(50);
    await cut.cable.accept();
    await untilStore(cut.limiter, 'k');
    expect(await take(other.limiter, 100)).toBe(50);
  });
});

/** Keeps the event loop busy. */
function stall(forMs: number): void {
  const untilMs = performance.now() + forMs;
  while (performance.now() < untilMs);
}
