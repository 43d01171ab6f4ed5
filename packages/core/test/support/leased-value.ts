/** What the value of a bucket says of permits that are out, as rules/leases.lua lays it out. */
export interface LeasedValue {
  readonly young: number;
  readonly old: number;
  /** The name of the present epoch. */
  readonly epoch: number;
  readonly sinceMs: number;
  readonly endsAtMs: number;
  /** Turns by holder, of those heard in the present epoch and of those heard in the one before. */
  readonly heard: ReadonlyMap<number, number>;
  readonly before: ReadonlyMap<number, number>;
}

/** Where the part on leases begins, by algorithm. */
export const PLAIN_BYTES = {
  'token-bucket': 24,
  'fixed-window': 16,
  'sliding-window': 32,
} as const;

/** @returns undefined where there is no value, or it has no such part */
export function readLeased(value: Buffer | null, plain = 24): LeasedValue | undefined {
  if (value === null || value.length <= plain) return undefined;
  const [young, old, epoch, sinceMs, endsAtMs, size] = [0, 1, 2, 3, 4, 5].map((i) =>
    value.readDoubleLE(plain + 8 * i),
  ) as [number, number, number, number, number, number];
  const [list, end] = [plain + 48, plain + 48 + size];
  const heard = turns(value.subarray(list, end));
  return { young, old, epoch, sinceMs, endsAtMs, heard, before: turns(value.subarray(end)) };
}

function turns(list: Buffer): Map<number, number> {
  const count = list.length / 16;
  return new Map(
    Array.from({ length: count }, (_, i) => [
      list.readDoubleLE(16 * i),
      list.readDoubleLE(16 * i + 8),
    ]),
  );
}

/** Permits that the store takes to be out at `nowMs`, by its clock, where nothing is told meanwhile. */
export function outAt(value: LeasedValue | undefined, nowMs: number): number {
  if (value === undefined) return 0;
  let { young, old, endsAtMs } = value;
  const lengthMs = endsAtMs - value.sinceMs;
  for (; endsAtMs <= nowMs && young + old > 0; endsAtMs += lengthMs) [young, old] = [0, young];
  return young + old;
}
