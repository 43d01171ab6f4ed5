import type { Decision } from '../../decision/decision.js';
import { type Behaviour, forEachAlgorithm, policyOf } from './contract-test.js';
import { facts } from './decisions.js';
import { during, expectEqual } from './expect.js';
import type { Subject } from './subject.js';

/** Refund, overcharge and reset. */
export const CORRECTION_BEHAVIOURS: readonly Behaviour[] = [
  ...forEachAlgorithm(
    'a refund puts back, and never above a full bucket',
    async (subject, algorithm) => {
      const policy = policyOf({ limit: 5, window: '10s', algorithm });
      await subject.consume(policy, 'key', 4);
      expectEqual(
        'remaining after 2 came back',
        (await subject.refund(policy, 'key', 2)).remaining,
        3,
      );
      const full = await subject.refund(policy, 'key', 100);
      expectEqual('remaining after 100 came back', [full.remaining, full.resetAfterMs], [5, 0]);
      expectEqual('a cost of 5', (await subject.consume(policy, 'key', 5)).allowed, true);
      expectEqual('a cost of 1', (await subject.consume(policy, 'key')).allowed, false);
    },
  ),
  ...forEachAlgorithm(
    'a refund with the time of its decision comes back where it was taken',
    async (subject, algorithm) => {
      const policy = policyOf({ limit: 5, window: '10s', algorithm });
      const { decidedAtMs } = await subject.consume(policy, 'key', 5);
      const back = await subject.refund(policy, 'key', 2, decidedAtMs);
      expectEqual('remaining', back.remaining, 2);
    },
  ),
  ...(['fixed-window', 'sliding-window', 'sliding-log'] as const).map((algorithm) => ({
    name: `${algorithm}: a refund does not come back into a later window`,
    check: async (subject: Subject) => {
      const policy = policyOf({ limit: 5, window: '10s', algorithm });
      const taken = await subject.consume(policy, 'key', 5);
      subject.clock.advance(30_000);
      await subject.consume(policy, 'key', 4);
      const before = await subject.look(policy, 'key');
      const after = await subject.refund(policy, 'key', 3, taken.decidedAtMs);
      expectEqual('the later window', facts(after), facts(before));
    },
  })),
  ...forEachAlgorithm(
    'an overcharge takes what does not fit, down to the overdraft',
    async (subject, algorithm) => {
      for (const overdraft of [0, 2]) {
        const key = `overdraft of ${overdraft}`;
        const policy = policyOf({ limit: 5, window: '10s', overdraft, algorithm });
        await during(key, async () => {
          const left = async (call: Promise<Decision>) => (await call).remaining;
          expectEqual('after 3', await left(subject.overcharge(policy, key, 3)), 2);
          expectEqual('after 100', await left(subject.overcharge(policy, key, 100)), 0);
          expectEqual('a cost of 1', (await subject.consume(policy, key)).allowed, false);
          if (overdraft > 0) {
            expectEqual(
              'overdraft put back',
              await left(subject.refund(policy, key, overdraft)),
              0,
            );
          }
          expectEqual('1 put back', await left(subject.refund(policy, key, 1)), 1);
        });
      }
    },
  ),
  ...forEachAlgorithm(
    'a refund or overcharge of 0 answers as a look and changes nothing',
    async (subject, algorithm) => {
      const policy = policyOf({ limit: 5, window: '10s', algorithm });
      for (const spent of [0, 3]) {
        await subject.consume(policy, 'key', spent);
        const look = facts(await subject.look(policy, 'key'));
        expectEqual('refund', facts(await subject.refund(policy, 'key', 0)), look);
        expectEqual('overcharge', facts(await subject.overcharge(policy, 'key', 0)), look);
        expectEqual('the bucket then', facts(await subject.look(policy, 'key')), look);
      }
    },
  ),
  ...forEachAlgorithm('a reset in its place between checks at once', async (subject, algorithm) => {
    const policy = policyOf({ limit: 2, window: '1h', algorithm });
    const consume = () => subject.consume(policy, 'key');
    const [a, b, denied, , c, d, deniedAgain] = await Promise.all([
      consume(),
      consume(),
      consume(),
      subject.reset(policy, 'key'),
      consume(),
      consume(),
      consume(),
    ]);
    expectEqual(
      'allowed',
      [a, b, denied, c, d, deniedAgain].map((it) => it.allowed),
      [true, true, false, true, true, false],
    );
  }),
  ...forEachAlgorithm('a reset forgets one bucket, and no other', async (subject, algorithm) => {
    const policy = policyOf({ limit: 2, window: '1h', algorithm });
    const other = policyOf({ limit: 2, window: '1h', algorithm }, 'other');
    await subject.consume(policy, 'ann', 2);
    await subject.consume(policy, 'bob', 2);
    await subject.consume(other, 'ann', 2);
    await subject.reset(policy, 'ann');
    await subject.reset(policy, 'never used');
    const looks = [
      await subject.look(policy, 'ann'),
      await subject.look(policy, 'bob'),
      await subject.look(other, 'ann'),
    ];
    expectEqual(
      'remaining',
      looks.map((it) => it.remaining),
      [2, 0, 0],
    );
    expectEqual('resetAfterMs of the one', looks[0]?.resetAfterMs, 0);
  }),
];
