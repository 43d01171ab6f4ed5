/**
 * A share as readers see it: `41.2 %`. Only what is nothing at all is `0 %`; what is more and
 * would be rounded to that is `< 0.1 %`.
 */
export function percent(share: number): string {
  if (share === 0) return '0 %';
  return share > 0 && share < 0.0005 ? '< 0.1 %' : `${(share * 100).toFixed(1)} %`;
}
