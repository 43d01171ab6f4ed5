/**
 * Ids by the place they belong to, as of when each was filed: a place may have become another one's
 * part since, so whoever goes by it looks again.
 */
export class PlaceIndex {
  readonly #idsOf = new Map<string, Set<string>>();
  /** The set that an id is in. */
  readonly #setOf = new Map<string, Set<string>>();

  /** Files an id, which is nowhere else then. */
  file(id: string, place: string): void {
    const ids = this.#idsOf.get(place) ?? new Set<string>();
    if (this.#setOf.get(id) === ids) return;
    this.drop(id);
    this.#idsOf.set(place, ids);
    this.#setOf.set(id, ids);
    ids.add(id);
  }

  drop(id: string): void {
    this.#setOf.get(id)?.delete(id);
    this.#setOf.delete(id);
  }

  /** The first filed first. Ids may be filed elsewhere, or dropped, while one goes through them. */
  at(place: string): ReadonlySet<string> {
    return this.#idsOf.get(place) ?? new Set();
  }

  /** What was at one place is at another. */
  move(from: string, to: string): void {
    const ids = this.#idsOf.get(from);
    if (ids === undefined || from === to) return;
    this.#idsOf.delete(from);
    const there = this.#idsOf.get(to);
    if (there === undefined) this.#idsOf.set(to, ids);
    else for (const id of ids) this.file(id, to);
  }
}
