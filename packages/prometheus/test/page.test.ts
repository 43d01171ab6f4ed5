import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FAMILIES } from '../src/catalogue.js';

it('the table of docs/metrics.md has each metric of the catalogue, with its type and labels', () => {
  const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
  const table = page.slice(page.indexOf('<!-- prometheus -->'), page.indexOf('<!-- otel -->'));
  const rows = [...table.matchAll(/^\| `(\w+)` +\| (\w+) +\| (.*?) *\|/gm)];
  expect(rows.map(([, name, type, labels]) => ({ name, type, labels }))).toEqual(
    FAMILIES.map(({ name, type, labels }) => ({
      name,
      type,
      labels: labels.map((label) => `\`${label}\``).join(', '),
    })),
  );
});
