import { afterEach, beforeEach, vi } from 'vitest';

/**
 * Call it in a `describe`: each of its tests begins as if this process had not warned of anything.
 * What it returns gives the codes of the process warnings of the running test, in order.
 */
export function useWarnings(): () => readonly string[] {
  const codes: string[] = [];
  beforeEach(() => {
    const shared = globalThis as { [name: symbol]: Set<string> | undefined };
    shared[Symbol.for('@rl/core/warned')]?.clear();
    codes.length = 0;
    const emit = (_: string | Error, details?: unknown): void => {
      codes.push((details as { code?: string } | undefined)?.code ?? 'a warning without a code');
    };
    vi.spyOn(process, 'emitWarning').mockImplementation(emit as typeof process.emitWarning);
  });
  afterEach(() => void vi.mocked(process.emitWarning).mockRestore());
  return () => codes;
}
