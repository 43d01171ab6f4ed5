import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { failuresOf, type RunFigures, summarise } from '../src/cluster-run/figures.js';
import type { KeyAccount, Run } from '../src/cluster-run/run.js';

const PROGRAM = fileURLToPath(new URL('../dist/cluster.mjs', import.meta.url));

async function start(...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  return { stdout, stderr, code };
}

test('slots move and a primary is killed under load: no key is admitted more than its limit and what the failover lost', async () => {
  const { stdout, stderr } = await start('--json', '--seconds', '3');
  const figures = JSON.parse(stdout || stderr) as RunFigures;
  const { calls, decidedBy, thrown, groups, slotMoves } = figures;
  expect(thrown).toEqual({});
  expect(Object.values(decidedBy).reduce((sum, count) => sum + count, 0)).toBe(calls);
  expect(decidedBy.store).toBeGreaterThan(0);
  expect(slotMoves).toBeGreaterThanOrEqual(2);
  for (const { keys, overshoot, lost } of [groups.moved, groups.calm]) {
    expect(keys).toBeGreaterThan(0);
    expect({ overshoot, lost }).toEqual({ overshoot: 0, lost: 0 });
  }
  expect(groups.killed.keys).toBeGreaterThan(0);
  expect(groups.killed.overshoot).toBeLessThanOrEqual(groups.killed.lost);
}, 60_000);

/** A run in which all is well, but for what is given. */
function runWith(keys: readonly Partial<KeyAccount>[], changed: Partial<Run> = {}): Run {
  const key = { key: 'k', group: 'calm', admitted: 10, charged: 10, pairCharged: undefined };
  return {
    limit: 10,
    account: {
      calls: 2,
      admitted: new Map(),
      decidedBy: new Map([
        ['store', 1],
        ['fallback: timeout', 1],
      ]),
      thrown: new Map(),
      tookMs: [1, 3],
    },
    keys: keys.map((given) => ({ ...key, ...given }) as KeyAccount),
    slotMoves: 2,
    promotedAfterMs: 1500,
    upAfterMs: 2000,
    stores: ['up'],
    ...changed,
  };
}

test('figures: what is lost, unanswered, uneven and above the limit is counted apart', () => {
  const { groups, tookMs } = summarise(
    runWith([
      { group: 'killed', admitted: 13, charged: 9 },
      { group: 'killed', admitted: 5, charged: 6, pairCharged: 8 },
      { group: 'moved' },
    ]),
  );
  expect(groups.killed).toEqual({
    keys: 2,
    admitted: 18,
    quota: 20,
    overshoot: 3,
    lost: 4,
    unanswered: 1,
    uneven: 2,
  });
  expect(groups.moved).toMatchObject({ keys: 1, admitted: 10, overshoot: 0 });
  expect(tookMs).toMatchObject({ p50: 2, max: 3 });
});

test.each<[string, Run, readonly string[]]>([
  ['all is well', runWith([{}, { group: 'killed', admitted: 12, charged: 10 }]), []],
  [
    'a calm key',
    runWith([{ admitted: 11, charged: 11 }]),
    ['1 permits above the limit of calm keys'],
  ],
  [
    'a moved key',
    runWith([{ group: 'moved', charged: 8 }]),
    ['2 permits of moved keys admitted and not charged'],
  ],
  [
    'a killed key, charged',
    runWith([{ group: 'killed', admitted: 12, charged: 12 }]),
    ['more above the limit than the failover has lost'],
  ],
  ['few moves', runWith([], { slotMoves: 1 }), ['only 1 slot moves']],
  [
    'none came back',
    runWith([], { upAfterMs: undefined }),
    ['not every replica asked the store again'],
  ],
])('the verdict: %s', (_, run, failures) => {
  expect(failuresOf(summarise(run))).toEqual(failures);
});

test.each([
  ['--fast', "Unknown option '--fast'"],
  ['--replicas=x', '--replicas must be an integer from 1 to 16, not x'],
])('%s is refused before anything is started', async (argument, complaint) => {
  const { code, stdout, stderr } = await start(argument);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(complaint);
  expect(stderr).toContain('usage: npm run cluster -- [--json]');
});
