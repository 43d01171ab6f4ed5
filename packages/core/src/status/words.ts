import type { Origin } from '../decision/decision.js';
import type { PolicyExplanation } from '../limiter/explanation.js';
import { ago, figure, permits, quota, span } from './figures.js';

const BY: { readonly [O in Origin]: string } = {
  store: 'the store',
  lease: 'a lease',
  memory: "this replica's memory",
  fallback: 'the fallback',
};

/**
 * Whether a call would go ahead, and why not, in plain words.
 * @param cost of the call
 * @param nowMs by the clock of the denials' notes
 */
export function answerOf(one: PolicyExplanation, cost: number, nowMs: number): string {
  const { decision } = one;
  const without = decision.fallback;
  const sentences = [
    without &&
      `The store does not answer; this is what this replica knows by its fallback (mode ${without.mode}).`,
    verdictOf(one, cost),
    leasesOf(one),
    denialsOf(one, nowMs),
    without === undefined &&
      (decision.origin === 'memory'
        ? "The store is in this replica's memory: all of this is this replica's alone."
        : "Counts and denials are this replica's; what is left and when a call fits are the shared store's."),
  ];
  return sentences.filter((sentence) => sentence).join(' ');
}

function verdictOf(one: PolicyExplanation, cost: number): string {
  const { policy, fits, held, decision } = one;
  const { name, shadow, burst, limit } = policy;
  if (fits) {
    const isHeld = decision.remaining < cost;
    const besides = isHeld ? `, and this replica holds ${figure(held)} in advance` : '';
    return `Goes ahead: ${leftOf(one)}${besides}.`;
  }
  const watched = 'Would be denied; the policy only watches, so the call goes ahead';
  if (cost > burst) {
    const why =
      limit === 0
        ? `policy ${name} has a limit of 0`
        : `a cost of ${figure(cost)} is above the burst of ${figure(burst)}`;
    return shadow ? `${watched}. It never fits: ${why}.` : `Never fits: ${why}.`;
  }
  const verdict = `${shadow ? watched : 'Denied'}: ${leftOf(one)}.`;
  const { fitsAfterMs } = one;
  if (fitsAfterMs === undefined) return `${verdict} It is not known when a call fits.`;
  return `${verdict} A call of cost ${figure(cost)} fits in ${span(fitsAfterMs)}, if nobody else spends.`;
}

function leftOf({ policy: { name, burst }, level }: PolicyExplanation): string {
  if (level < 0) return `policy ${name} is ${permits(-level)} below zero after a settlement`;
  const verb = burst === 1 ? 'permit is' : 'permits are';
  return `${figure(level)} of ${figure(burst)} ${verb} left under policy ${name}`;
}

function leasesOf({ fits, out = 0 }: PolicyExplanation): string {
  if (out === 0) return '';
  const be = out === 1 ? 'is' : 'are';
  const wait = fits ? '' : ', and a call may have to wait for those too';
  return `Of what is spent ${permits(out)} ${be} held by replicas on leases${wait}.`;
}

function denialsOf({ denials, policy: { shadow } }: PolicyExplanation, nowMs: number): string {
  const { count, last } = denials;
  if (count === 0) return 'This replica has noted no denial of this key lately.';
  const what = shadow ? 'would-be denial' : 'denial';
  const noted = `This replica noted about ${figure(count)} ${what}${count === 1 ? '' : 's'} of this key lately`;
  const [latest] = last;
  if (latest === undefined) return `${noted}.`;
  return `${noted}, the last ${ago(latest.atMs, nowMs)} by ${BY[latest.origin]}.`;
}

/** The same in single facts: what each is called, and what it is. */
export function factsOfAnswer(
  one: PolicyExplanation,
  cost: number,
  nowMs: number,
): Record<string, string> {
  const { policy, fits, fitsAfterMs, level, decision, held, out, denials } = one;
  const { burst, shadow, lease } = policy;
  const wait = fitsAfterMs === undefined ? 'never' : span(fitsAfterMs);
  const facts: Record<string, string> = {
    Policy: `${policy.name}: ${quota(policy)}, burst ${figure(burst)}, ${policy.algorithm}`,
    Cost: figure(cost),
    'Goes ahead': fits ? 'yes' : shadow ? 'yes, as the policy only watches' : 'no',
    'Fits in': fits ? 'now' : wait,
    Left: `${figure(level)} of ${figure(burst)}`,
    'Full again in': decision.resetAfterMs === 0 ? 'now' : span(decision.resetAfterMs),
    'Answered by': decision.fallback
      ? `the fallback, mode ${decision.fallback.mode} (${decision.fallback.fault})`
      : BY[decision.origin],
  };
  if (lease !== undefined) {
    facts['Held by this replica'] = permits(held);
    facts['Held by all replicas'] = out === undefined ? 'not known' : permits(out);
  }
  facts['Denials noted here'] = figure(denials.count);
  for (const [i, { atMs, count, cost: price, origin }] of denials.last.entries()) {
    facts[`Denial ${i + 1}, ${ago(atMs, nowMs)}`] =
      `${figure(count)} at a cost of ${figure(price)}, by ${BY[origin]}`;
  }
  return facts;
}
