import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it, test } from 'vitest';
import { type Comparison, compare } from '../src/fleet-simulation/compare.js';
import { pageRow, withFigures } from '../src/fleet-simulation/page.js';
import { percent } from '../src/fleet-simulation/percent.js';
import { picture } from '../src/fleet-simulation/picture.js';
import { type FleetScenario, SCENARIOS } from '../src/fleet-simulation/scenarios.js';
import { writeDocs } from '../src/fleet-simulation/write-docs.js';

const docs = new URL('../../../docs/', import.meta.url);
const page = readFileSync(new URL('leasing.md', docs), 'utf8');
const svg = readFileSync(new URL('img/leasing.svg', docs), 'utf8');
const [BEGIN, END] = ['<!-- figures: npm run bench:leases -- --write -->', '<!-- /figures -->'];

/** Seed 1; quick, and of those that differ the most. */
const QUICK = ['even-2x', 'burst-100-at-50'].map(scenario);

function scenario(name: string): FleetScenario {
  const found = SCENARIOS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no scenario is called ${name}`);
  return found;
}

/** The cells of the row that begins with this one. */
function rowOf(text: string, { title, detail }: FleetScenario): string[] {
  const line = text.split('\n').find((one) => one.startsWith(`| ${title}, ${detail} `));
  if (line === undefined) throw new Error(`the page has no row for ${title}, ${detail}`);
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** What is written in the picture beside the name of a scenario. */
function textsOf(drawn: string, { name }: FleetScenario): string[] {
  const [, group] = new RegExp(`<g id="${name}">([^]*?)</g>`).exec(drawn) ?? [];
  return [...(group ?? '').matchAll(/<text[^>]*>([^<]*)</g)].map(([, words]) =>
    (words as string).replaceAll('&lt;', '<'),
  );
}

/** Without simulating: figures that are easy to tell apart. */
const MADE_UP: readonly Comparison[] = SCENARIOS.map((one, i) => ({
  scenario: one,
  ours: figuresOf(0, 0.995, 0.001 * i, 0.9),
  usual: figuresOf(0.0001 * i, 1.02, 1.2, 0.5),
}));

function figuresOf(overshoot: number, use: number, callsPerRequest: number, local: number) {
  return {
    overshootAtStore: overshoot,
    overshootAtReplicas: 0.9,
    use,
    callsPerRequest,
    local,
  };
}

describe('docs/leasing.md', () => {
  it.each(QUICK)('has the figures that $name has now', async (one) => {
    expect(rowOf(page, one)).toEqual(pageRow(await compare(one, 1)));
  });

  it.each(SCENARIOS)('has a row for $name, and the picture has its figures', (one) => {
    const [, overshoot, use, calls] = rowOf(page, one).map((cell) => cell.split(' / '));
    const farFromAll = (use ?? []).filter((share) => Math.abs(Number.parseFloat(share) - 100) > 1);
    expect(textsOf(svg, one)).toEqual([
      one.title,
      one.detail,
      ...(calls as string[]),
      ...(overshoot as string[]),
      ...farFromAll,
    ]);
  });

  it('shows the picture', () => {
    expect(page).toMatch(/^!\[[^\]]+\]\(img\/leasing\.svg\)$/m);
  });
});

test.each([
  [0, '0 %'],
  [0.0000001, '< 0.1 %'],
  [0.0005, '0.1 %'],
  [0.412, '41.2 %'],
  [1.2, '120.0 %'],
])('a share of %d is written as %s', (share, written) => {
  expect(percent(share)).toBe(written);
});

test('the picture is as wide as it says, whatever the figures', () => {
  const right = [
    ...picture(MADE_UP, 1).matchAll(
      /<rect class="usual" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g,
    ),
  ];
  expect(right).toHaveLength(1 + 2 * SCENARIOS.length);
  for (const [, x, width] of right) expect(Number(x) + Number(width)).toBeLessThan(700);
});

describe('writing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasing-page-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'img'));
  const written = pathToFileURL(`${folder}/`);
  const read = () => readFileSync(join(folder, 'leasing.md'), 'utf8');

  it('makes a page of the figures alone, and the same of it again', () => {
    writeDocs(written, MADE_UP, 1);
    const first = read();
    for (const one of MADE_UP) expect(rowOf(first, one.scenario)).toEqual(pageRow(one));
    expect(first.split('\n').at(0)).toBe(BEGIN);
    expect(first.trimEnd().split('\n').at(-1)).toBe(END);
    expect(readFileSync(join(folder, 'img/leasing.svg'), 'utf8')).toBe(picture(MADE_UP, 1));
    writeDocs(written, MADE_UP, 1);
    expect(read()).toBe(first);
  });

  it('leaves what is around the figures', () => {
    copyFileSync(new URL('leasing.md', docs), join(folder, 'leasing.md'));
    writeDocs(written, MADE_UP, 1);
    const around = (text: string) => [text.split(BEGIN)[0], text.split(END)[1]];
    expect(around(read())).toEqual(around(page));
    expect(read()).not.toBe(page);
  });

  it.each([
    'no marker',
    `only ${BEGIN}`,
    `only ${END}`,
    `${END} then ${BEGIN}`,
    `${BEGIN} ${BEGIN} ${END}`,
    `${BEGIN} ${END} ${END}`,
    `${END} ${BEGIN} ${END}`,
  ])('refuses a page with %s', (text) => {
    expect(() => withFigures(text, 'figures')).toThrow(`must have one line ${BEGIN}`);
  });
});
