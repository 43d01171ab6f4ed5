import { expect, test } from 'vitest';
import { dashboardJson } from '../src/dashboard.js';
import { ROWS } from '../src/panels.js';
import { inMonitoring } from './folder.js';

const PANELS = ROWS.flatMap(({ panels }) => panels);

test('the dashboard that is shipped is the one that src/panels.ts describes (-- --update writes it)', async () => {
  const shipped = inMonitoring('grafana/dashboards/rate-limiting.json');
  await expect(dashboardJson()).toMatchFileSnapshot(shipped);
});

test('each panel has a title of its own, and says what it means', () => {
  const titles = [...ROWS, ...PANELS].map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  for (const { title, description } of [...PANELS]) {
    expect(title).toMatch(/^[A-Z].*[?.]$/);
    expect(description.length, title).toBeGreaterThan(40);
  }
});

test('panels are placed beside and below each other, none on another', () => {
  const { panels } = JSON.parse(dashboardJson());
  const cells = new Set<string>();
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(cells.has(`${x} ${y}`), `${title} at ${x} ${y}`).toBe(false);
        cells.add(`${x} ${y}`);
      }
    }
  }
});
