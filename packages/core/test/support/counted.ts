import type { Limiter } from '../../src/limiter/limiter.js';

/** How often calls under a policy were decided in which way: `{ 'allowed store': 3 }`, without zeros. */
export function counted(
  limiter: Pick<Limiter, 'metrics'>,
  policy = 'p',
  keyClass = 'default',
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of limiter.metrics().decisions) {
    if (one.policy !== policy || one.keyClass !== keyClass || one.count === 0) continue;
    counts[`${one.outcome} ${one.origin}`] = one.count;
  }
  return counts;
}

/** The same by outcome alone, whoever decided. */
export function outcomes(limiter: Pick<Limiter, 'metrics'>, policy = 'p'): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [way, count] of Object.entries(counted(limiter, policy))) {
    const [outcome = ''] = way.split(' ');
    counts[outcome] = (counts[outcome] ?? 0) + count;
  }
  return counts;
}
