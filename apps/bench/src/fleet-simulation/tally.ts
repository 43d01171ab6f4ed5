/** What became of the requests of one fleet. */
export class Tally {
  /** Answered at once, in either way. */
  local = 0;
  admitted = 0;
  denied = 0;
  /** Admissions in each millisecond of the store's clock, stamped when they were decided. */
  readonly atStore: number[] = [];
  /** The same, stamped when the replica learnt of them. */
  readonly atReplicas: number[] = [];

  /**
   * @param decidedAtMs by the store's clock: when the store took the permit, or when it was spent
   * where the replica held it
   * @param nowMs when the replica learns of it
   */
  admit(decidedAtMs: number, nowMs: number): void {
    this.admitted++;
    count(this.atStore, Math.floor(decidedAtMs));
    count(this.atReplicas, Math.floor(nowMs));
  }
}

function count(perMs: number[], atMs: number): void {
  while (perMs.length <= atMs) perMs.push(0);
  perMs[atMs] = (perMs[atMs] as number) + 1;
}
