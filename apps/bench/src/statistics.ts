/**
 * The value below which `share` of the values lie, between two of them by interpolation: 0.5 is
 * the median.
 */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('a quantile of no values is not defined');
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] as number;
  const above = sorted[Math.ceil(at)] as number;
  return below + (above - below) * (at - Math.floor(at));
}

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Four significant digits: what is behind them differs from run to run. */
export function significant(value: number): number {
  return Number(value.toPrecision(4));
}
