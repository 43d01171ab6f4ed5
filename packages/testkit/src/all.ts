/** As `Promise.all`, and rejects only when all have ended: what they started is known then. */
export async function all<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
