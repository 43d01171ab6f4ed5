/**
 * This instant on a clock that all processes of a machine share and that nobody sets, in ms: what
 * several replicas noted can be put in one order by it.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
