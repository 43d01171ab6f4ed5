import { readFileSync, writeFileSync } from 'node:fs';
import type { Comparison } from './compare.js';
import { EMPTY_PAGE, figures, withFigures } from './page.js';
import { picture } from './picture.js';

/**
 * Writes `leasing.md`, of which only the figures change where it is there, and `img/leasing.svg`.
 * @param folder that of the documentation, with a slash at the end
 */
export function writeDocs(folder: URL, comparisons: readonly Comparison[], seed: number): void {
  const path = new URL('leasing.md', folder);
  const page = withFigures(readIfThere(path) ?? EMPTY_PAGE, figures(comparisons, seed));
  writeFileSync(path, page);
  writeFileSync(new URL('img/leasing.svg', folder), picture(comparisons, seed));
}

function readIfThere(path: URL): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
