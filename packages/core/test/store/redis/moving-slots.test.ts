import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../../../src/policy/policy.js';
import type { RedisClient } from '../../../src/store/redis/client.js';
import { MovingSlots } from '../../../src/store/redis/moving-slots.js';
import { redisStore } from '../../../src/store/redis/redis-store.js';
import { ManualClock } from '../../../src/testing/manual-clock.js';
import { useOwn } from '../../support/redis.js';

const TRYAGAIN = 'TRYAGAIN Multiple keys request during rehashing of slot';

describe('a group of keys whose slot moves', () => {
  it.each([
    TRYAGAIN,
    `Too many Cluster redirections. Last error: ReplyError: ${TRYAGAIN}`,
    'Too many Cluster redirections. Last error: ReplyError: ASK 14419 127.0.0.1:7001',
    'Too many Cluster redirections. Last error: ReplyError: MOVED 14419 127.0.0.1:7001',
  ])('is noticed by %s, and forgotten after 1 s', (says) => {
    const clock = new ManualClock();
    const moving = new MovingSlots(clock);
    expect(moving.has('k')).toBe(false);
    expect(moving.noticed('k', new Error(says))).toBe(true);
    expect([moving.has('k'), moving.has('other')]).toEqual([true, false]);
    clock.advance(999);
    expect(moving.has('k')).toBe(true);
    clock.advance(1);
    expect(moving.has('k')).toBe(false);
  });

  it.each([
    'CLUSTERDOWN The cluster is down',
    'Connection is closed.',
    'Too many Cluster redirections. Last error: Error: Connection is closed.',
    'ERR a script said TRYAGAIN',
  ])('is not by %s, after which something may have run', (says) => {
    const moving = new MovingSlots();
    expect(moving.noticed('k', new Error(says))).toBe(false);
    expect(moving.has('k')).toBe(false);
  });

  it('is one of a thousand at most', () => {
    const moving = new MovingSlots(new ManualClock());
    for (let i = 0; i < 1000; i++) moving.noticed(`k${i}`, new Error(TRYAGAIN));
    expect(moving.has('k0')).toBe(true);
    moving.noticed('one more', new Error(TRYAGAIN));
    expect([moving.has('k0'), moving.has('one more')]).toEqual([false, true]);
  });
});

describe('calls of several keys that are answered TRYAGAIN', () => {
  const own = useOwn();
  const TEN = parsePolicy('ten', { limit: 10, window: '1h' }, '');
  const THREE = parsePolicy('three', { limit: 3, window: '1h' }, '');
  const both = [TEN, THREE].map((policy) => ({ policy, key: 'k', cost: 1 }));

  /** The real server behind what a Cluster's client looks like, whose slots are on the move. */
  function open(says = TRYAGAIN) {
    const counts: number[] = [];
    const call =
      (run: RedisClient['evalsha']): RedisClient['evalsha'] =>
      async (script, count, ...rest) => {
        counts.push(count);
        if (count > 1) throw new Error(says);
        return run(script, count, ...rest);
      };
    const client: RedisClient = {
      isCluster: true,
      evalsha: call((...args) => own.client.evalsha(...args)),
      eval: call((...args) => own.client.eval(...args)),
    };
    return { store: redisStore(client), counts };
  }

  it('are made for one key at a time, charged to all or none, and for 1 s at once', async () => {
    const { store, counts } = open();
    const asked = [];
    for (let i = 0; i < 5; i++) asked.push(await store.consumeAll(both));
    expect(asked.map((each) => each.map(({ allowed }) => allowed))).toEqual([
      ...[
        [true, true],
        [true, true],
        [true, true],
      ],
      ...[
        [true, false],
        [true, false],
      ],
    ]);
    expect(asked.at(-1)?.map(({ remaining }) => remaining)).toEqual([7, 0]);
    expect(counts.filter((count) => count > 1)).toEqual([2]);
    await store.close();
  });

  it('decide plain checks of one turn, a look and a claim, too', async () => {
    const { store } = open();
    const lease = parsePolicy('lease', { limit: 10, window: '1h', lease: true }, '');
    const claim = {
      policy: lease,
      key: 'k',
      holder: 1,
      turn: 1,
      reports: [],
      costs: [2],
      extra: 3,
    };
    const [plain, grant] = await Promise.all([
      Promise.all([TEN, THREE, TEN, THREE].map((policy) => store.consume(policy, 'k', 1))),
      store.claim(claim),
      store.overcharge(TEN, 'm', 1),
    ]);
    expect(plain.map(({ remaining }) => remaining)).toEqual([9, 2, 8, 1]);
    expect(grant).toMatchObject({ permits: 3, left: { remaining: 5 } });
    expect((await store.consumeAll(both.map((charge) => ({ ...charge, cost: 0 })))).length).toBe(2);
  });

  it('are not made again after another failure', async () => {
    const { store, counts } = open('Connection is closed.');
    await expect(store.consumeAll(both)).rejects.toMatchObject({ fault: 'connection' });
    expect(counts).toEqual([2]);
  });

  it('fail where one of the keys cannot be asked, and what was charged is put back', async () => {
    const { store } = open();
    await own.client.set('rl:{k}:three:tb1', 'x');
    await own.client.acl('SETUSER', 'half', 'on', '>p', '+@all', '~rl:{k}:ten:*');
    const half = own.client.duplicate({ username: 'half', password: 'p' });
    const client: RedisClient = {
      isCluster: true,
      evalsha: (script, count, ...rest) => half.evalsha(script, count, ...rest),
      eval: async (script, count, ...rest) => {
        if (count > 1) throw new Error(TRYAGAIN);
        return half.eval(script, count, ...rest);
      },
    };
    await expect(redisStore(client).consumeAll(both)).rejects.toMatchObject({
      fault: 'permission',
    });
    half.disconnect();
    expect((await store.consume(TEN, 'k', 0)).remaining).toBe(10);
  });
});
