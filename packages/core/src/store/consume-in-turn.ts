import type { Decision } from '../decision/decision.js';
import { putBack } from './put-back.js';
import type { Charge } from './store.js';

/**
 * Charges groups of buckets that no one step can reach, one after the other. Where one is denied,
 * what the groups before it were charged is put back and those behind it are only looked at; where
 * one cannot be asked, it is put back too. For a moment too strict, never too generous.
 *
 * @param ask decides on a group, all or nothing; `look`: answers as it would, and takes nothing
 * @param refund puts back what a charge took
 */
export async function consumeInTurn(
  groups: readonly (readonly Charge[])[],
  ask: (what: 'consume' | 'look', group: readonly Charge[]) => Promise<readonly Decision[]>,
  refund: (charge: Charge, takenAtMs: number) => Promise<Decision>,
): Promise<Map<Charge, Decision>> {
  const decisions = new Map<Charge, Decision>();
  const charged: Charge[] = [];
  const putAllBack = () => charged.map((charge) => putBack(charge, decisions, refund));
  let denied = false;
  try {
    for (const group of groups) {
      const answers = await ask(denied ? 'look' : 'consume', group);
      group.forEach((charge, i) => {
        decisions.set(charge, answers[i] as Decision);
      });
      if (!answers.every(({ allowed }) => allowed)) denied = true;
      else if (!denied) charged.push(...group);
    }
  } catch (error) {
    await Promise.allSettled(putAllBack());
    throw error;
  }
  if (denied) await Promise.all(putAllBack());
  return decisions;
}
