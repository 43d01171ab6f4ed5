import { LIMIT, SPAN_MS, WINDOW_MS } from './algorithm-runs.mjs';

/** Calls of so many milliseconds stand in one column. */
const COLUMN_MS = 50;

const WIDTH = 720;
const HEIGHT = 372;
const LEFT = 44;
const RIGHT = 704;
const CALLS = { top: 78, bottom: 192 };
const COUNT = { top: 226, bottom: 332, most: 20 };
const DOT = 3.3;

const STYLE = `
    text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #24292f }
    .head { font-size: 17px; font-weight: 600 }
    .soft { fill: #57606a }
    .paper { fill: #ffffff; stroke: #d0d7de }
    .grid { stroke: #d8dee4 }
    .band { fill: #eef2f7 }
    .edge { stroke: #8250df; stroke-width: 1.5; stroke-dasharray: 4 3 }
    .edge-text { fill: #8250df }
    .allowed { fill: #0969da; stroke: #0969da }
    .denied { fill: none; stroke: #c4432b; stroke-width: 1.2 }
    .count { fill: none; stroke: #0969da; stroke-width: 2 }
    .limit { stroke: #57606a; stroke-dasharray: 6 4 }
    .above { fill: #c4432b; font-weight: 600 }
    .mark { fill: #c4432b }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .soft { fill: #9198a1 }
      .paper { fill: #0d1117; stroke: #30363d }
      .grid { stroke: #2a3038 }
      .band { fill: #161d27 }
      .edge { stroke: #ab7df8 }
      .edge-text { fill: #ab7df8 }
      .allowed { fill: #58a6ff; stroke: #58a6ff }
      .denied { stroke: #ff8b73 }
      .count { stroke: #58a6ff }
      .limit { stroke: #9198a1 }
      .above { fill: #ff8b73 }
      .mark { fill: #ff8b73 }
    }`;

/** The SVG of one run, the same text for the same run. */
export function picture(run) {
  const name = run.algorithm.replaceAll('-', ' ').replace(/^./, (letter) => letter.toUpperCase());
  const title = `${run.algorithm === 'gcra' ? 'GCRA' : name}, ${LIMIT} per second`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title desc">
  <title id="title">${title}</title>
  <desc id="desc">${describe(run)}</desc>
  <style>${STYLE}
  </style>
  <rect class="paper" x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="6"/>
  <text class="head" x="16" y="30">${title}</text>
  <text x="${RIGHT}" y="30" text-anchor="end">${summary(run)}</text>
${[...legend(run), ...bands(run), ...axes(), ...dots(run), ...edges(run), ...trailing(run)].map((line) => `  ${line}`).join('\n')}
</svg>
`;
}

function summary({ calls, allowedAtMs, mostInWindow, mostInTenth }) {
  return `${allowedAtMs.length} of ${calls.length} allowed, at most ${mostInWindow} in 1 s, ${mostInTenth} in 100 ms`;
}

function describe(run) {
  const { windows } = run;
  const where =
    windows.length === 0
      ? 'It has no windows.'
      : `Windows begin at ${windows.map((ms) => `${ms / 1000} s`).join(', ')}.`;
  return `Calls over ${SPAN_MS / 1000} seconds: one at 0 s, 12 just before 1 s, 12 just after it, then 20 a second from 1.5 s. ${summary(run)}, intervals without their end. ${where}`;
}

function legend({ windows }) {
  const y = 54;
  const items = [
    dot('allowed', 20, y - 4),
    label(30, y, 'allowed'),
    dot('denied', 96, y - 4),
    label(106, y, 'denied'),
    `<line class="limit" x1="166" x2="190" y1="${y - 4}" y2="${y - 4}"/>`,
    label(197, y, 'limit'),
  ];
  if (windows.length === 0) return [...items, label(RIGHT, y, 'no windows', 'soft', 'end')];
  return [
    ...items,
    vertical('edge', 246, y - 11, y + 2),
    label(254, y, 'a window begins', 'edge-text'),
  ];
}

/** Every second window is shaded; what lies between two fixed windows is not. */
function bands({ windows }) {
  return windows
    .filter((_, i) => i % 2 === 0)
    .map((startMs) => {
      const from = x(startMs);
      const to = x(Math.min(startMs + WINDOW_MS, SPAN_MS));
      return `<rect class="band" x="${from}" y="${CALLS.top - 6}" width="${round(to - from)}" height="${COUNT.bottom - CALLS.top + 6}"/>`;
    });
}

function axes() {
  const seconds = Array.from({ length: SPAN_MS / WINDOW_MS + 1 }, (_, i) => i * WINDOW_MS);
  return [
    ...seconds.map((ms) => vertical('grid', x(ms), CALLS.top - 6, COUNT.bottom)),
    horizontal('grid', CALLS.bottom),
    horizontal('grid', COUNT.bottom),
    horizontal('limit', countY(LIMIT)),
    ...[0, LIMIT, COUNT.most].map((n) => label(LEFT - 8, countY(n) + 4, n, 'soft', 'end')),
    ...seconds.map((ms) => label(x(ms), COUNT.bottom + 20, `${ms / 1000} s`, 'soft', 'middle')),
    label(RIGHT - 6, CALLS.top + 10, `calls, ${COLUMN_MS} ms a column`, 'soft', 'end'),
    label(RIGHT - 6, COUNT.top + 8, 'allowed in the last 1 s', 'soft', 'end'),
  ];
}

function dots({ calls }) {
  const heights = new Map();
  return calls.map(({ atMs, allowed }) => {
    const column = Math.floor(atMs / COLUMN_MS);
    const height = heights.get(column) ?? 0;
    heights.set(column, height + 1);
    const cy = CALLS.bottom - 6 - height * 8.6;
    return dot(allowed ? 'allowed' : 'denied', x((column + 0.5) * COLUMN_MS), cy);
  });
}

function edges({ windows }) {
  return windows.map((ms) => vertical('edge', x(ms), CALLS.top - 6, COUNT.bottom));
}

/** How many were allowed in the second before each instant, its highest point marked. */
function trailing({ allowedAtMs, mostInWindow }) {
  const countAt = (ms) => allowedAtMs.filter((t) => t <= ms && t > ms - WINDOW_MS).length;
  const changes = allowedAtMs.flatMap((ms) => [ms, ms + WINDOW_MS]);
  const instants = [...new Set(changes)].filter((ms) => ms < SPAN_MS).sort((a, b) => a - b);
  const steps = instants.map((ms) => `H${x(ms)}V${countY(countAt(ms))}`);
  const highest = instants.find((ms) => countAt(ms) === mostInWindow);
  const beside = mostInWindow > LIMIT ? 'above' : 'soft';
  return [
    `<path class="count" d="M${x(0)} ${countY(0)}${steps.join('')}H${x(SPAN_MS)}"/>`,
    `<circle class="${mostInWindow > LIMIT ? 'mark' : 'allowed'}" cx="${x(highest)}" cy="${countY(mostInWindow)}" r="4"/>`,
    label(x(highest), countY(mostInWindow) - 9, mostInWindow, beside, 'middle'),
  ];
}

function x(ms) {
  return round(LEFT + ((RIGHT - LEFT) * ms) / SPAN_MS);
}

function countY(count) {
  return round(COUNT.bottom - ((COUNT.bottom - COUNT.top) * count) / COUNT.most);
}

function round(number) {
  return Math.round(number * 100) / 100;
}

function dot(kind, cx, cy) {
  return `<circle class="${kind}" cx="${round(cx)}" cy="${round(cy)}" r="${DOT}"/>`;
}

function vertical(kind, at, y1, y2) {
  return `<line class="${kind}" x1="${at}" x2="${at}" y1="${y1}" y2="${y2}"/>`;
}

function horizontal(kind, at) {
  return `<line class="${kind}" x1="${LEFT}" x2="${RIGHT}" y1="${at}" y2="${at}"/>`;
}

function label(at, y, text, kind = '', anchor = 'start') {
  const looks = kind === '' ? '' : ` class="${kind}"`;
  return `<text${looks} x="${at}" y="${y}" text-anchor="${anchor}">${text}</text>`;
}
