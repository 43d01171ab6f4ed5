import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HOSTILE_KEY, openScene, type Scene } from './scene.js';

const AXE: string = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const PICTURES: string = fileURLToPath(new URL('../../../docs/img', import.meta.url));

/** The page asks every two seconds. */
const WAIT = { timeout: 10_000, interval: 50 };

let browser: Browser;
const open: (() => Promise<void>)[] = [];

beforeAll(async () => {
  // Its sandbox does not work as root.
  const args = ['--no-sandbox'];
  browser = await chromium.launch({ executablePath: process.env.RL_CHROMIUM as string, args });
});
afterAll(() => browser.close());
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A visit of one scene's page, and what the browser complained of meanwhile. */
interface Visit {
  readonly scene: Scene;
  readonly page: Page;
  readonly complaints: readonly string[];
}

async function visit(
  options: BrowserContextOptions = {},
  others?: Readonly<Record<string, number>>,
): Promise<Visit> {
  const scene = await openScene(others);
  open.push(() => scene.close());
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, ...options });
  open.push(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(scene.url);
  return { scene, page, complaints };
}

/** What axe finds against WCAG 2.2 AA, by rule and place. */
async function violationsOf(page: Page): Promise<string[]> {
  // By way of the developer tools: the page's own policy forbids scripts of others.
  const asked =
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })";
  const found = await page.evaluate(`${AXE}; ${asked}`);
  const { violations } = found as {
    violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[];
  };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
  );
}

async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().textContent()) ?? '';
}

async function answerOf(page: Page): Promise<string> {
  await expect.poll(() => textOf(page, '#answer'), WAIT).not.toBe('');
  return textOf(page, '#answer');
}

async function explain(page: Page, key: string, cost?: string): Promise<string> {
  await page.locator('#key').fill(key);
  if (cost !== undefined) await page.locator('#cost').fill(cost);
  await page.getByRole('button', { name: 'Explain' }).click();
  return answerOf(page);
}

describe('the status page', () => {
  it('loads without a complaint, and its figures move while calls are decided', async () => {
    const { scene, page, complaints } = await visit();
    const before = await textOf(page, '#policies-0');
    expect(before).toContain('tenant');
    for (let i = 0; i < 50; i++) scene.limiter.tryConsume({ tenant: 'initech' });
    await expect.poll(() => textOf(page, '#policies-0'), WAIT).not.toBe(before);
    expect(complaints).toEqual([]);
  });

  it('says of a client who is throttled that he is, and why, by keyboard alone', async () => {
    const { page, complaints } = await visit();
    await page.locator('#key').focus();
    await page.keyboard.type('globex');
    await page.keyboard.press('Enter');
    const answer = await answerOf(page);
    expect(answer).toMatch(/denied/i);
    expect(answer).toContain('60 permits');
    expect(await textOf(page, '#facts')).toContain('globex');
    expect(page.url()).not.toContain('globex');
    expect(complaints).toEqual([]);
  });

  it('reaches all that can be used by Tab, with a focus that is seen', async () => {
    const { page } = await visit();
    const reached = new Set<string>();
    for (let i = 0; i < 20; i++) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const { activeElement: element } = document;
        if (element === null || element === document.body) return undefined;
        return { id: element.id, outline: getComputedStyle(element).outlineStyle };
      });
      if (at === undefined) continue;
      expect(at.outline).not.toBe('none');
      reached.add(at.id);
    }
    expect([...reached]).toEqual(expect.arrayContaining(['pause', 'policy', 'key', 'cost']));
  });

  it('shows a hostile key as the text it is', async () => {
    const { page, complaints } = await visit({}, { [HOSTILE_KEY]: 90 });
    expect(await textOf(page, '.denied')).toContain(HOSTILE_KEY);
    expect(await explain(page, HOSTILE_KEY)).toMatch(/denied/i);
    expect(await textOf(page, '#facts')).toContain(HOSTILE_KEY);
    expect(await page.evaluate('window.stolen')).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('says of a cost above the burst that it never fits', async () => {
    const { page } = await visit();
    expect(await explain(page, 'globex', '61')).toMatch(/never/i);
  });

  it('stands still while it is paused, and goes on', async () => {
    const { page } = await visit();
    // From here on the page's time is ours.
    await page.clock.install();
    await page.reload();
    const pause = page.locator('#pause');
    await pause.click();
    expect(await pause.getAttribute('aria-pressed')).toBe('true');
    let asked = 0;
    page.on('request', () => void asked++);
    await page.clock.runFor(60_000);
    expect(asked).toBe(0);
    await pause.click();
    expect(await pause.getAttribute('aria-pressed')).toBe('false');
    await page.waitForRequest((request) => request.url().endsWith('/facts'));
  });

  it('says when the replica does not answer, and comes back by itself', async () => {
    const { scene, page } = await visit();
    await scene.stop();
    await expect.poll(() => textOf(page, '#note'), WAIT).toMatch(/does not answer/);
    await scene.start();
    await expect.poll(() => textOf(page, '#note'), WAIT).toBe('');
  });

  it('shows the totals to a browser without scripts', async () => {
    const { page } = await visit({ javaScriptEnabled: false });
    expect(await textOf(page, '#policies-0')).toContain('tenant');
    expect(await textOf(page, '.denied')).toContain('globex');
  });

  it.each(['light', 'dark'] as const)('has no fault that axe knows, in the %s', async (scheme) => {
    const { page } = await visit({ colorScheme: scheme });
    await explain(page, 'globex');
    expect(await violationsOf(page)).toEqual([]);
    const path = `${PICTURES}/status-page-${scheme}.png`;
    if (process.env.RL_UPDATE_PICTURES) await page.screenshot({ path, fullPage: true });
  });

  it('fits a narrow window: what is wide scrolls by itself', async () => {
    const { page } = await visit({ viewport: { width: 320, height: 640 } });
    await explain(page, 'globex');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(320);
    expect(await violationsOf(page)).toEqual([]);
  });
});
