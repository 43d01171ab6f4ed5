import { type Behaviour, START_MS } from './contract-test.js';
import { expectEqual } from './expect.js';
import { Holder, leased, report } from './holder.js';

/** Corners in which a state is written that another rule has to read the same. */
export const LEASE_CORNER_BEHAVIOURS: readonly Behaviour[] = [
  {
    name: 'fixed-window: claim: a report alone does not move the window, so a step back within it forgets nothing',
    check: async (subject) => {
      const holder = new Holder(subject, leased('fixed-window'));
      const grant = await holder.hold(5);
      subject.clock.advance(500);
      await holder.tell(grant, 0, 5);
      subject.clock.advance(-200);
      expectEqual('sent once more', await subject.claim(holder.latest), undefined);
    },
  },
  {
    name: 'fixed-window: claim: a report alone does not prolong what is out',
    check: async (subject) => {
      const holder = new Holder(subject, leased('fixed-window', { lease: { ttl: '1m' } }));
      const grant = await holder.hold(5);
      await subject.refund(holder.policy, 'key', 5);
      subject.clock.advance(500);
      await holder.tell(grant, 1, 0);
      subject.clock.set(START_MS + 10_200);
      await subject.consume(holder.policy, 'key', 6);
      expectEqual('left once three are returned late', await holder.tell(grant, 0, 3), 4);
    },
  },
  {
    name: 'sliding-window: claim: a report under a raised limit leaves no debt behind',
    check: async (subject) => {
      const [low, high] = [5, 10].map((limit) =>
        leased('sliding-window', { limit, overdraft: 10 }),
      ) as [Holder['policy'], Holder['policy']];
      await subject.overcharge(low, 'key', 8);
      const holder = new Holder(subject, high);
      await holder.claim({ reports: [report({ epoch: 5 } as never, 1, 0)] });
      expectEqual('left once 4 came back', (await subject.refund(low, 'key', 4)).remaining, 4);
    },
  },
  {
    name: 'token-bucket: claim: a burst that was lowered and raised again leaves room for what is out',
    check: async (subject) => {
      const [low, high] = [4, 10].map((burst) =>
        leased('token-bucket', { burst, lease: { ttl: '1m' } }),
      ) as [Holder['policy'], Holder['policy']];
      await new Holder(subject, high).hold(5);
      await subject.refund(low, 'key', 1);
      expectEqual('a cost of 6', (await subject.consume(high, 'key', 6)).allowed, false);
      expectEqual('left', (await subject.look(high, 'key')).remaining, 5);
    },
  },
  {
    name: 'token-bucket: claim: a clock that stepped back by an epoch gives no later one the name of it',
    check: async (subject) => {
      const policy = leased('token-bucket', { lease: { ttl: '1s', maxShare: 1 } });
      const [early, late] = [new Holder(subject, policy, 1), new Holder(subject, policy, 2)];
      const grant = await early.hold(1);
      subject.clock.advance(-1000);
      await subject.consume(policy, 'key', 1);
      subject.clock.advance(1000);
      await late.hold(5);
      await early.tell(grant, 5, 0);
      await subject.refund(policy, 'key', 10);
      expectEqual('left beside the five', (await subject.look(policy, 'key')).remaining, 5);
    },
  },
];
