import type { Decision } from '../../decision/decision.js';
import type { Behaviour } from './contract-test.js';
import { facts } from './decisions.js';
import { expectEqual, expectTrue } from './expect.js';
import { forEachLeased, Holder, leased, report, twoHolders } from './holder.js';

/** How a claim decides the costs in it. */
export const LEASE_COST_BEHAVIOURS: readonly Behaviour[] = [
  ...forEachLeased(
    'costs are decided in order and before the grant, as consume decides them',
    async (subject, algorithm) => {
      const policy = leased(algorithm, { lease: { maxShare: 1 } });
      const costs = [4, 7, 0, 5, 11, 2];
      const { decisions, permits, left } = await new Holder(subject, policy).claim({
        costs,
        extra: 9,
      });
      expectEqual(
        'allowed',
        decisions.map((it) => it.allowed),
        [true, false, true, true, false, false],
      );
      expectEqual('permits and what is left', [permits, left.remaining], [1, 0]);
      const alone: Decision[] = [];
      for (const cost of costs) alone.push(await subject.consume(policy, 'alone', cost));
      expectEqual('decisions', decisions.map(facts), alone.map(facts));
    },
  ),
  ...forEachLeased('with costs only it is as so many calls', async (subject, algorithm) => {
    const policy = leased(algorithm);
    const holder = new Holder(subject, policy);
    for (const [afterMs, costs] of [
      [0, [3, 0, 9]],
      [700, [8, 2]],
      [4300, [1, 5, 5]],
      [20_000, [10, 1]],
    ] as const) {
      subject.clock.advance(afterMs);
      const { decisions, left } = await holder.claim({ costs });
      for (const [i, cost] of costs.entries()) {
        const alone = await subject.consume(policy, 'alone', cost);
        expectEqual('decision', facts(decisions[i] as Decision), facts(alone));
      }
      const look = await subject.look(policy, 'alone');
      expectEqual('left', facts(left), facts(look));
    }
  }),
  ...forEachLeased('costs that are denied change nothing', async (subject, algorithm) => {
    const policy = leased(algorithm);
    await subject.consume(policy, 'key', 7);
    subject.clock.advance(450);
    const before = await subject.look(policy, 'key');
    const { decisions, left } = await new Holder(subject, policy).claim({ costs: [4, 12, 9] });
    expectTrue('all must be denied', !decisions.some((it) => it.allowed), decisions);
    expectEqual('left', facts(left), facts(before));
    expectEqual('the bucket then', facts(await subject.look(policy, 'key')), facts(before));
  }),
  ...forEachLeased('that asks for nothing changes nothing', async (subject, algorithm) => {
    const policy = leased(algorithm);
    const holder = new Holder(subject, policy);
    for (const spent of [0, 3]) {
      await subject.consume(policy, 'key', spent);
      const before = facts(await subject.look(policy, 'key'));
      const { permits, left } = await holder.claim();
      expectEqual('permits', permits, 0);
      expectEqual('left', facts(left), before);
      expectEqual('the bucket then', facts(await subject.look(policy, 'key')), before);
    }
  }),
  ...forEachLeased(
    'under a shadow policy a cost that does not fit is allowed and charged nothing',
    async (subject, algorithm) => {
      const policy = leased(algorithm, { shadow: true });
      const { decisions, left } = await new Holder(subject, policy).claim({ costs: [8, 3, 2] });
      expectEqual(
        'wouldDeny',
        decisions.map((it) => it.wouldDeny),
        [false, true, false],
      );
      expectEqual('left', left.remaining, 0);
    },
  ),
  ...forEachLeased(
    'claims and checks at once are decided in the order they were made',
    async (subject, algorithm) => {
      const policy = leased(algorithm, { lease: { maxShare: 1 } });
      const [a, b] = twoHolders(subject, policy);
      const grant = await a.hold(2);
      const answers = await Promise.all([
        subject.consume(policy, 'key', 5),
        b.claim({ costs: [4], extra: 2 }),
        a.claim({ reports: [report(grant, 0, 2)], costs: [2], extra: 9 }),
        subject.consume(policy, 'key'),
        b.claim({ extra: 1 }),
      ]);
      const told = answers.map((it) =>
        'permits' in it ? [...it.decisions.map((one) => one.allowed), it.permits] : [it.allowed],
      );
      expectEqual('allowed and granted', told, [[true], [false, 2], [true, 1], [false], [0]]);
    },
  ),
  {
    name: 'close: claims made before it are answered, later ones refused with RL_CLOSED',
    check: async (subject) => {
      const holder = new Holder(subject, leased('token-bucket'));
      const before = holder.claim({ costs: [1], extra: 2 });
      const closing = subject.store.close();
      const { latest } = holder;
      const late = subject.store.claim({ ...latest, turn: latest.turn + 1 });
      const outcome = late.then(
        () => 'resolves',
        (error: unknown) => (error as { code?: unknown }).code,
      );
      expectEqual('permits', (await before).permits, 2);
      expectEqual('a claim after close', await outcome, 'RL_CLOSED');
      await closing;
    },
  },
];
