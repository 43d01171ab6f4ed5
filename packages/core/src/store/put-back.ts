import type { Decision } from '../decision/decision.js';
import type { Charge } from './store.js';

/**
 * Puts back what a charge took for a call that is denied after all, and notes what is found then.
 * A shadow policy that would have denied, and a cost of 0, took nothing.
 *
 * @param decisions those of the call; the charge's own is among them
 * @param refund as of `Store.refund`, with the time of the decision
 */
export async function putBack(
  charge: Charge,
  decisions: Map<Charge, Decision>,
  refund: (charge: Charge, takenAtMs: number) => Promise<Decision>,
): Promise<void> {
  const { wouldDeny, decidedAtMs } = decisions.get(charge) as Decision;
  if (wouldDeny || charge.cost === 0) return;
  decisions.set(charge, await refund(charge, decidedAtMs));
}
