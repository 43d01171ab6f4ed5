import type { Comparison } from './compare.js';
import { parameters } from './page.js';
import { percent } from './percent.js';
import type { FleetFigures } from './simulate.js';

type Who = 'ours' | 'usual';

/** Bars of one figure beside each other, from a share of 0 to one of `most`. */
interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly left: number;
  readonly width: number;
  readonly most: number;
  readonly shareOf: (figures: FleetFigures) => number;
  /** From here on a share is a fault. */
  readonly faultFrom: number;
}

const WIDTH = 720;
const LEFT = 16;
const RIGHT = 704;
const TOP = 112;
const ROW = 40;
const BAR = 12;
/** Below the last row. */
const FOOT = 64;

const WHO: readonly Who[] = ['ours', 'usual'];
/** Uses of the quota that are written as so close to 100 % are left out. */
const CLOSE_PERCENT = 1;

const STYLE = `
    text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #24292f }
    .head { font-size: 17px; font-weight: 600 }
    .name { font-weight: 600 }
    .small { font-size: 12px }
    .soft { fill: #57606a }
    .paper { fill: #ffffff; stroke: #d0d7de }
    .axis { fill: none; stroke: #8c959f }
    .band { fill: #f3f6f9 }
    .ours { fill: #0969da }
    .usual { fill: #c8752e }
    .fault { fill: #c4432b; font-weight: 600 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .soft { fill: #9198a1 }
      .paper { fill: #0d1117; stroke: #30363d }
      .axis { stroke: #6e7681 }
      .band { fill: #161d27 }
      .ours { fill: #58a6ff }
      .usual { fill: #d98a45 }
      .fault { fill: #ff8b73 }
    }`;

/** The SVG of all scenarios, the same text for the same figures. */
export function picture(comparisons: readonly Comparison[], seed: number): string {
  const bottom = TOP + comparisons.length * ROW;
  const height = bottom + FOOT;
  const panels = panelsOf(comparisons);
  const lines = [
    ...legend(),
    ...comparisons.flatMap((_, i) => (i % 2 === 0 ? [band(TOP + i * ROW)] : [])),
    ...panels.flatMap((panel) => axis(panel, bottom)),
    text(RIGHT, TOP - 26, 'use of the quota', 'name', 'end'),
    text(
      RIGHT,
      TOP - 10,
      `where not ${100 - CLOSE_PERCENT}–${100 + CLOSE_PERCENT} %`,
      'small soft',
      'end',
    ),
    ...comparisons.flatMap((comparison, i) => row(comparison, TOP + i * ROW, panels)),
    text(LEFT, height - 16, `Unless a row says otherwise: ${parameters(seed)}.`, 'small soft'),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc">
  <title id="title">${TITLE}</title>
  <desc id="desc">${escapeXml(describe(comparisons, panels))}</desc>
  <style>${STYLE}
  </style>
  <rect class="paper" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6"/>
  <text class="head" x="${LEFT}" y="30">${TITLE}</text>
${lines.map((line) => `  ${line}`).join('\n')}
</svg>
`;
}

const TITLE = 'Leases, ours beside the usual: calls of the store and overshoot';

function panelsOf(comparisons: readonly Comparison[]): readonly Panel[] {
  const calls = (figures: FleetFigures): number => figures.callsPerRequest;
  const overshoot = (figures: FleetFigures): number => figures.overshootAtStore;
  const most = (atLeast: number, shareOf: Panel['shareOf']): number =>
    Math.max(atLeast, ...comparisons.flatMap(({ ours, usual }) => [shareOf(ours), shareOf(usual)]));
  return [
    {
      title: 'calls of the store',
      unit: '% of requests',
      left: 238,
      width: 180,
      most: most(1, calls),
      shareOf: calls,
      faultFrom: Number.POSITIVE_INFINITY,
    },
    {
      title: 'overshoot',
      unit: '% of the burst',
      left: 474,
      width: 110,
      most: most(0.5, overshoot),
      shareOf: overshoot,
      faultFrom: 0.0005,
    },
  ];
}

function describe(comparisons: readonly Comparison[], panels: readonly Panel[]): string {
  const range = (who: Who, { shareOf }: Panel): string => {
    const shares = comparisons.map((one) => shareOf(one[who]));
    const [low, high] = [percent(Math.min(...shares)), percent(Math.max(...shares))];
    return low === high ? `${low} throughout` : `${low} to ${high}`;
  };
  const sentences = panels.map(
    (panel) =>
      `${panel.title.replace(/^./, (letter) => letter.toUpperCase())}, in ${panel.unit}: ours ${range('ours', panel)}, the usual leasing ${range('usual', panel)}.`,
  );
  return `Bars for ${comparisons.length} scenarios, our leases above the usual ones. ${sentences.join(' ')} The same figures are in the table of docs/leasing.md.`;
}

function legend(): readonly string[] {
  const y = 54;
  return [
    `<rect class="ours" x="${LEFT}" y="${y - 10}" width="${BAR}" height="${BAR}"/>`,
    text(LEFT + 18, y, 'ours'),
    `<rect class="usual" x="${LEFT + 62}" y="${y - 10}" width="${BAR}" height="${BAR}"/>`,
    text(LEFT + 80, y, 'usual leasing: a fixed batch, spent from memory'),
  ];
}

/** Both title lines of a panel, the line its bars begin at, and below it the scale. */
function axis(panel: Panel, bottom: number): readonly string[] {
  const { left, most } = panel;
  return [
    text(left, TOP - 26, panel.title, 'name'),
    text(left, TOP - 10, panel.unit, 'small soft'),
    `<path class="axis" d="M${left} ${TOP}V${bottom}H${left + panel.width}"/>`,
    ...[0, most / 2, most].flatMap((share) => {
      const at = round(left + lengthOf(panel, share));
      return [
        `<line class="axis" x1="${at}" x2="${at}" y1="${bottom}" y2="${bottom + 4}"/>`,
        text(at, bottom + 18, `${round(share * 100)} %`, 'small soft', 'middle'),
      ];
    }),
  ];
}

function band(y: number): string {
  return `<rect class="band" x="1" y="${y}" width="${WIDTH - 2}" height="${ROW}"/>`;
}

function row(comparison: Comparison, y: number, panels: readonly Panel[]): readonly string[] {
  const { title, detail, name } = comparison.scenario;
  return [
    `<g id="${name}">`,
    text(LEFT, y + 17, title, 'name'),
    text(LEFT, y + 32, detail, 'small soft'),
    ...panels.flatMap((panel) =>
      WHO.flatMap((who, i) => bar(panel, who, panel.shareOf(comparison[who]), y + 7 + i * 14)),
    ),
    ...WHO.flatMap((who, i) => {
      const use = percent(comparison[who].use);
      if (Math.abs(Number.parseFloat(use) - 100) <= CLOSE_PERCENT) return [];
      return [text(RIGHT, y + 17 + i * 14, use, 'small', 'end')];
    }),
    '</g>',
  ];
}

function bar(panel: Panel, who: Who, share: number, y: number): readonly string[] {
  const length = lengthOf(panel, share);
  const looks = share === 0 ? 'small soft' : share >= panel.faultFrom ? 'small fault' : 'small';
  return [
    `<rect class="${who}" x="${panel.left}" y="${y}" width="${round(length)}" height="${BAR}"/>`,
    text(panel.left + length + 5, y + 10, percent(share), looks),
  ];
}

function lengthOf({ width, most }: Panel, share: number): number {
  return (width * share) / most;
}

function text(x: number, y: number, words: string, looks = '', anchor = 'start'): string {
  const kind = looks === '' ? '' : ` class="${looks}"`;
  return `<text${kind} x="${round(x)}" y="${y}" text-anchor="${anchor}">${escapeXml(words)}</text>`;
}

function escapeXml(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}
