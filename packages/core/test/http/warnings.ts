/** Warnings come once a process: after this, as if none had come. */
export function forgetWarnings(): void {
  const shared = globalThis as { [name: symbol]: Set<string> | undefined };
  shared[Symbol.for('@rl/core/warned')]?.clear();
}
