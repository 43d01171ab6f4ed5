import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const page = read('../../../../docs/failure-modes.md');

/** The texts of a union in a source. */
function union(path: string, pattern: RegExp): string[] {
  const text = pattern.exec(read(path))?.[1] ?? '';
  return [...text.matchAll(/'([\w-]+)'/g)].map(([, name]) => name as string);
}

/** What stands in backticks in one column of the tables whose first line has `heading`. */
function column(heading: string, index: number): Set<string> {
  const table =
    new RegExp(`^\\| ${heading}[^\\n]*\\n((?:\\|[^\\n]*\\n)+)`, 'm').exec(page)?.[1] ?? '';
  const cells = table.split('\n').map((line) => line.split('|')[index + 1] ?? '');
  return new Set(
    cells.flatMap((cell) => [...cell.matchAll(/`([\w-]+)`/g)].map(([, name]) => name as string)),
  );
}

it('docs/failure-modes.md has every fault, and no other', () => {
  const faults = union('../../src/errors.ts', /type StoreFault =([\s\S]*?);/);
  expect(faults.length).toBeGreaterThan(0);
  expect(column('what happens', 1)).toEqual(new Set(faults));
});

it('docs/failure-modes.md has every event, and no other', () => {
  const source = read('../../src/fallback/events.ts');
  const events = [...source.matchAll(/readonly type: '([\w-]+)'/g)].map(([, type]) => type);
  expect(events.length).toBeGreaterThan(0);
  expect(column('event', 0)).toEqual(new Set(events));
});

it('each warning has its row on a page', () => {
  const codes = union('../../src/warnings.ts', /type WarningCode =([^;]+);/);
  const pages =
    ['keys', 'answers'].map((name) => read(`../../../../docs/${name}.md`)).join('') + page;
  expect(codes.length).toBeGreaterThan(0);
  for (const code of codes) expect(pages).toMatch(new RegExp(`^\\| \`${code}\` +\\|`, 'm'));
});
