import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { OBSERVED, STORE_DURATION } from '../src/catalogue.js';

it('the table of docs/metrics.md has each instrument of the catalogue, and how it is', () => {
  const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
  const table = page.slice(page.indexOf('<!-- otel -->'));
  const rows = [...table.matchAll(/^\| `([\w.]+)` +\| (\w+) +\| `(.+?)` +\| (.*?) *\|/gm)];
  const [requests, ...others] = OBSERVED;
  expect(
    rows.map(([, name, kind, unit, attributes]) => ({ name, kind, unit, attributes })),
  ).toEqual(
    [requests, STORE_DURATION, ...others].map((one) => ({
      name: one?.name,
      kind: one?.kind,
      unit: one?.unit,
      attributes: one?.attributes.map((attribute) => `\`${attribute}\``).join(', '),
    })),
  );
});
