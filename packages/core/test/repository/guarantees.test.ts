import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../../../', import.meta.url);
const page = readFileSync(new URL('docs/guarantees.md', root), 'utf8');

/** `path`: "title", "title", as the page names its tests. */
const named = [...page.matchAll(/`([^`]+\.test\.ts)`: ((?:"[^"]+"(?:, )?)+)/g)].flatMap(
  ([, path, titles]) => [...(titles as string).matchAll(/"([^"]+)"/g)].map(([, t]) => [path, t]),
) as [string, string][];

describe('docs/guarantees.md names tests that exist', () => {
  it('and names some for each guarantee', () => {
    expect(named.length).toBeGreaterThanOrEqual(10);
  });

  it.each(named)('%s: %s', (path, title) => {
    expect(readFileSync(new URL(path, root), 'utf8')).toContain(title);
  });
});
