/** What this library warns of, each once a process, or once a store: see `docs/keys.md` and `docs/failure-modes.md`. */
export type WarningCode =
  | 'RL_NO_ADDRESS'
  | 'RL_AFTER_RESPONSE_FAILED'
  | 'RL_OBSERVER_FAILED'
  | 'RL_STORE_LOST'
  | 'RL_REPLICAS_UNKNOWN'
  | 'RL_NOT_REPLICATED'
  | 'RL_PROXY_COUNT_IGNORED'
  | 'RL_PROXY_COUNT_TOO_HIGH'
  | 'RL_PROXY_HEADER_UNUSED'
  | 'RL_PROXY_NOT_TRUSTED'
  | 'RL_PROXY_TRUSTS_ANYBODY';

/** Registered symbol: the ESM and the CJS build warn once between them. */
const WARNED: unique symbol = Symbol.for('@rl/core/warned') as never;

/** A process warning, unless there was one with this code before. */
export function warnOnce(code: WarningCode, message: string): void {
  const shared = globalThis as { [WARNED]?: Set<WarningCode> };
  shared[WARNED] ??= new Set();
  if (shared[WARNED].has(code)) return;
  shared[WARNED].add(code);
  warn(code, message);
}

/** A process warning, each time. */
export function warn(code: WarningCode, message: string): void {
  process.emitWarning(message, { type: 'RateLimitWarning', code });
}
