/** Most pages of results for one search. */
const MAX_PAGES = 10;

/**
 * How many pages of results a search is to fetch, which is what it costs: 1 to 10.
 * @param asked whatever the query has; 1 where it is no number
 */
export function pagesOf(asked: unknown): number {
  return Math.min(Math.max(1, Math.trunc(Number(asked)) || 1), MAX_PAGES);
}
