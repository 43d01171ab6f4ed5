import type { Decision } from '@rl/core';

/** What became of the calls. */
export interface Account {
  calls: number;
  /** By key, under the policy `quota`. */
  readonly admitted: Map<string, number>;
  /** By who decided: `store`, `memory`, `fallback: timeout` and others of that kind. */
  readonly decidedBy: Map<string, number>;
  /** Calls that threw, by what they said. Expected to stay empty. */
  readonly thrown: Map<string, number>;
  /** Of each call, in ms. */
  readonly tookMs: number[];
}

export function newAccount(): Account {
  return {
    calls: 0,
    admitted: new Map(),
    decidedBy: new Map(),
    thrown: new Map(),
    tookMs: [],
  };
}

/** Makes a call and notes what became of it. Never rejects. @returns undefined where it threw */
export async function noted(
  account: Account,
  key: string,
  call: () => Promise<Decision>,
): Promise<Decision | undefined> {
  account.calls++;
  const fromMs = performance.now();
  try {
    const decision = await call();
    account.tookMs.push(performance.now() - fromMs);
    const { origin, fallback } = decision;
    add(account.decidedBy, fallback === undefined ? origin : `fallback: ${fallback.fault}`);
    if (decision.allowed) add(account.admitted, key);
    return decision;
  } catch (error) {
    add(account.thrown, error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
