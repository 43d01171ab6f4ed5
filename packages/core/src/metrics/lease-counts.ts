/** What became of the permits that one limiter leased. Counts only rise. */
export class LeaseCounts {
  claims = 0;
  granted = 0;
  returned = 0;
  writtenOff = 0;
}
