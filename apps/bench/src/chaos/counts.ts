/** How often each value occurs, the most frequent first. */
export function countBy<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}
