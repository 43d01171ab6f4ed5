export interface Run {
  algorithm: string;
  calls: {
    atMs: number;
    allowed: boolean;
    retryAfterMs: number | undefined;
    resetAfterMs: number;
  }[];
  allowedAtMs: number[];
  windows: number[];
  mostInWindow: number;
  mostInTenth: number;
}
export function runAll(core: object, algorithms: readonly string[]): Run[];
export function mostWithin(timesMs: readonly number[], lengthMs: number): number;
