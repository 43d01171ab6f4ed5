/** A metric that a query selects, and the labels by which. */
export interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** The metrics of ours that a query names, those that rules record among them. */
export function selectorsOf(expr: string): Selector[] {
  const found = expr.matchAll(/\b((?:\w+:)?ratelimit_\w+(?::\w+)?|job:up:count)(?:\{([^}]*)\})?/g);
  return [...found].map(([, metric = '', matchers = '']) => ({
    metric,
    labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label),
  }));
}

/** The labels that a query groups or matches by. */
export function groupedBy(expr: string): string[] {
  const lists = expr.matchAll(/\b(?:by|on|without|ignoring|group_left)\s*\(([^)]*)\)/g);
  return [...lists]
    .flatMap(([, list = '']) => list.split(',').map((label) => label.trim()))
    .filter(Boolean);
}
