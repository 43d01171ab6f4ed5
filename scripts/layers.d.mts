export const CORE_LAYERS: string[][];
export function findViolations(sources: Iterable<[string, string]>): string[];
