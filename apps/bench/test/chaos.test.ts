import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import type { RunFigures } from '../src/chaos/run-figures.js';

const PROGRAM = fileURLToPath(new URL('../dist/chaos.mjs', import.meta.url));

const children: ChildProcess[] = [];

afterEach(() => {
  // Those of a test that failed: others have ended.
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function start(...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const output = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const ended = output.then(([stdout, stderr, [code]]) => ({ stdout, stderr, code }));
  return { child, ended };
}

test('whatever fails, every call is decided, nothing is thrown, and replicas return to the store', async () => {
  const only = ['--only', 'kill', '--only', 'black-hole', '--only', 'read-only'];
  const { stdout } = await start('--json', '--seconds', '12', ...only).ended;
  const figures = JSON.parse(stdout) as RunFigures & { readonly failures: readonly string[] };
  const { calls, decisions, thrown, strays, unaccounted } = figures;
  expect(figures.faults.map(({ fault }) => fault).sort()).toEqual([
    'black-hole',
    'kill',
    'read-only',
  ]);
  expect(calls).toBeGreaterThan(0);
  expect({ decisions, thrown, strays, unaccounted }).toEqual({
    decisions: calls,
    thrown: {},
    strays: [],
    unaccounted: 0,
  });
  expect(figures.replicas.map(({ store }) => store)).toEqual(['up', 'up', 'up', 'up']);
}, 60_000);

test('an interrupted run ends what it started, and with the code of the signal', async () => {
  const { child, ended } = start('--only', 'pause', '--replicas', '1');
  // In the middle of the fault: the server is frozen.
  while (child.exitCode === null) {
    const [chunk] = await once(child.stderr as NodeJS.ReadableStream, 'data');
    if (String(chunk).startsWith('pause')) break;
  }
  child.kill('SIGTERM');
  const { code, stdout, stderr } = await ended;
  expect({ code, stdout }).toEqual({ code: 143, stdout: '' });
  expect(stderr).toMatch(/^pause, \d+ ms \.\.\.\ninterrupted by SIGTERM\n$/);
}, 60_000);

test.each([
  ['--fast', "Unknown option '--fast'"],
  ['--only=rain', '--only must be one of kill, pause, '],
  ['--seconds=4', '--seconds must be an integer from 5 to 3600, not 4'],
  ['--replicas=0', '--replicas must be an integer from 1 to 32, not 0'],
  ['--seed=x', '--seed must be an integer from 0 to 999999999, not x'],
])('%s is refused before anything is started', async (argument, complaint) => {
  const { code, stdout, stderr } = await start(argument).ended;
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(complaint);
  expect(stderr).toContain('usage: npm run chaos -- [--json]');
});
