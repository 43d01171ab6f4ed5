/** True for a promise of any library. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as { then?: unknown }).then === 'function';
}
