/**
 * What the contract compares with. No test runner's: its errors are plain ones whose messages say
 * what was looked at, what was expected and what was found.
 */

/** A value as messages show it, with fields that are undefined. */
export function text(value: unknown): string {
  if (value === undefined) return 'undefined';
  return JSON.stringify(value, (_, part) => (part === undefined ? 'undefined' : part));
}

/** @throws Error where the two differ anywhere in depth; `what` begins its message */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (isSame(actual, expected)) return;
  throw new Error(`${what}: expected ${text(expected)}, got ${text(actual)}`);
}

/** @throws Error where it does not hold; `what` says what must, `actual` is shown */
export function expectTrue(what: string, holds: boolean, actual: unknown): void {
  if (!holds) throw new Error(`${what}, got ${text(actual)}`);
}

/** Runs a step, and has an error that comes out of it begin with the step's name. */
export async function during<T>(step: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${step}: ${message}`, { cause: error });
  }
}

function isSame(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b)) return Object.is(a, b);
  const names = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
