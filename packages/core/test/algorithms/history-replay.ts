import type { Decision } from '../../src/decision/decision.js';
import type { Policy } from '../../src/policy/policy.js';
import type { Charge, Store } from '../../src/store/store.js';
import type { ManualClock } from '../../src/testing/manual-clock.js';
import type { Call, History, Instant } from '../support/histories.js';

/** When every history begins. */
export const START_MS = 1_700_000_000_000;

/** What was asked, and what the store answered. */
export interface Asked {
  readonly policy: Policy;
  readonly cost: number;
  readonly decision: Decision;
}

/** What is told of leases: epochs that were granted, by bucket, and the claims of a holder. */
interface Told {
  readonly epochs: Map<string, number[]>;
  turn: number;
}

/** Replays a history; all calls of an instant at once, as requests of one turn arrive. */
export async function replay(
  store: Store,
  clock: ManualClock,
  id: string,
  { policies, instants }: History,
): Promise<Asked[]> {
  const asked: Asked[] = [];
  const takenAtMs = new Map<string, number>();
  const told: Told = { epochs: new Map(), turn: 1 };
  clock.set(START_MS);
  for (const { afterMs, variants, calls } of instants) {
    clock.advance(afterMs);
    const answers = calls.map((call) =>
      ask(store, id, inForce(policies, variants), call, takenAtMs, told),
    );
    for (const some of await Promise.all(answers)) asked.push(...some);
    for (const { policy, decision } of asked) takenAtMs.set(policy.name, decision.decidedAtMs);
  }
  return asked;
}

/** A claim, and what it is answered as decisions: a void one leaves none. */
async function claim(
  store: Store,
  { policy, key, cost }: Charge,
  { claim: { holder, extra, told: reports, again } }: Call,
  told: Told,
): Promise<{ cost: number; decision: Decision }[]> {
  if (policy.lease === undefined) return [];
  const id = `${policy.name}:${policy.algorithm}:${key}`;
  const epochs = told.epochs.get(id) ?? [];
  told.epochs.set(id, epochs);
  const grant = await store.claim({
    policy,
    key,
    holder: 123_456_789_012 + holder,
    turn: again ? told.turn : ++told.turn,
    reports: reports.map((report, i) => ({ epoch: epochs.at(-1 - i) ?? 0, ...report })),
    costs: [cost, 1],
    extra,
  });
  if (grant === undefined) return [];
  if (grant.permits > 0) epochs.push(grant.epoch);
  const { permits, epoch, lifeMs } = grant;
  const left = { ...grant.left, permits, epoch, lifeMs };
  const decisions = grant.decisions.map((decision, i) => ({ cost: i === 0 ? cost : 1, decision }));
  return [...decisions, { cost: 0, decision: left }];
}

function inForce(policies: History['policies'], variants: Instant['variants']): Policy[] {
  return policies.map((list, i) => list[(variants[i] as number) % list.length] as Policy);
}

async function ask(
  store: Store,
  id: string,
  policies: readonly Policy[],
  call: Call,
  takenAtMs: ReadonlyMap<string, number>,
  told: Told,
): Promise<Asked[]> {
  const charges = call.parts.map(({ name, key, cost }) => ({
    policy: policies[name] as Policy,
    key: `${id}/${key}`,
    cost,
  }));
  const [{ policy, key, cost }] = charges as [(typeof charges)[0]];
  const answered = (cost: number, decision: Decision) => [{ policy, cost, decision }];
  switch (call.do) {
    case 'reset':
      await store.reset(policy, key);
      return [];
    case 'claim':
      return (await claim(store, charges[0] as (typeof charges)[0], call, told)).flatMap(
        (decision) => answered(decision.cost, decision.decision),
      );
    case 'overcharge':
      return answered(0, await store.overcharge(policy, key, cost));
    case 'refund': {
      const taken = call.told ? takenAtMs.get(policy.name) : undefined;
      return answered(0, await store.refund(policy, key, cost, taken));
    }
    case 'consume':
      if (charges.length === 1) return answered(cost, await store.consume(policy, key, cost));
      return (await store.consumeAll(charges)).map((decision, i) => ({
        ...(charges[i] as (typeof charges)[0]),
        decision,
      }));
  }
}
