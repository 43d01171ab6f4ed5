/** A value, or a promise of it. */
export type Later<T> = T | PromiseLike<T>;

/** True for a promise of any library. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as { then?: unknown }).then === 'function';
}

/** `next` of a value: at once where it is there, else in a promise when it comes. */
export function when<T, R>(
  value: T | PromiseLike<T>,
  next: (value: T) => R | PromiseLike<R>,
): R | PromiseLike<R> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}
