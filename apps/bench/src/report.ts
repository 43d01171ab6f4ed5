import type { Table } from './scenario.js';
import { median, quantile } from './statistics.js';

/** A table as text, without a newline at the end: the first column to the left, others right. */
export function renderTable({ title, header, rows, notes }: Table): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) =>
    Math.max(...lines.map((cells) => (cells[column] ?? '').length)),
  );
  const render = (cells: readonly string[]): string =>
    widths
      .map((width, column) => {
        const cell = cells[column] ?? '';
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ');
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [title, '', render(header), rule, ...rows.map(render), '', ...notes].join('\n');
}

/** `12,345`, with `digits` after the point. */
export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** The median, and the quartiles on both sides of it, which tell how quiet the machine was. */
export function formatRounds(values: readonly number[], digits = 0): string {
  const lower = formatNumber(quantile(values, 0.25), digits);
  const upper = formatNumber(quantile(values, 0.75), digits);
  return `${formatNumber(median(values), digits)} (${lower}–${upper})`;
}
