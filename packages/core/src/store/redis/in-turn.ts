import type { Decision } from '../../decision/decision.js';
import { consumeInTurn } from '../consume-in-turn.js';
import type { Charge } from '../store.js';
import type { Check } from './checks-batch.js';

/** Asks of buckets that one call can reach. */
export type Ask = (
  what: Check['what'],
  charges: readonly Charge[],
  takenAtMs?: number,
) => Promise<readonly Decision[]>;

/** Puts back what a charge took. */
export function refundBy(ask: Ask): (charge: Charge, takenAtMs: number) => Promise<Decision> {
  return async (charge, takenAtMs) => (await ask('refund', [charge], takenAtMs))[0] as Decision;
}

/** Answers a question on several buckets by asking of one at a time. Never rejects. */
export async function askApart({ what, charges, ...end }: Check, ask: Ask): Promise<void> {
  const each = charges.map((charge) => [charge]);
  try {
    if (what === 'look') {
      end.resolve((await Promise.all(each.map((charge) => ask(what, charge)))).flat());
    } else {
      const decisions = await consumeInTurn(each, ask, refundBy(ask));
      end.resolve(charges.map((charge) => decisions.get(charge) as Decision));
    }
  } catch (error) {
    end.reject(error as Error);
  }
}
