import { expect, test } from 'vitest';
import type { Tally } from '../src/load.js';
import * as report from '../src/report.js';
import type { Figures, Snapshot } from '../src/run.js';

function tally(sent: number, admitted: number, failures: Record<string, number> = {}): Tally {
  const reasons = new Map(Object.entries(failures));
  const failed = [...reasons.values()].reduce((sum, count) => sum + count, 0);
  return { sent, admitted, denied: sent - admitted - failed, failed, failures: reasons };
}

const before: Snapshot = {
  replicas: 4,
  elapsedMs: 3_540,
  perReplica: tally(600, 400),
  shared: tally(600, 100),
};
const after: Snapshot = {
  replicas: 8,
  elapsedMs: 11_260,
  perReplica: tally(1_872, 800),
  shared: tally(1_872, 100),
};
const figures: Figures = { before, after };

function withShared(shared: Tally, elapsedMs = after.elapsedMs): Figures {
  return { before, after: { ...after, elapsedMs, shared } };
}

/** What would break a line on the smallest usual terminal. */
function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

test('the tables stand side by side', () => {
  expect(report.tables(report.titleBefore(before), before, 100)).toBe(
    `4 REPLICAS, after 3.5 s of load

  In-process limiter per replica          Shared quota
  ──────────────────────────────────      ──────────────────────────────────
  requests sent                  600      requests sent                  600
  admitted                       400      admitted                       100
  denied                         200      denied                         500
  admitted ÷ limit              4.00      admitted ÷ limit              1.00
`,
  );
});

test('requests that failed have a row in both tables', () => {
  const some = { ...before, shared: tally(600, 100, { 'socket hang up': 2 }) };
  const rows = report.tables('', some, 100).split('\n');
  expect(rows).toContain(
    '  failed                           0      failed                           2',
  );
  expect(rows).toContain(
    '  denied                         200      denied                         498',
  );
});

test('the title at the end says that the counts go on', () => {
  expect(report.titleAfter(figures)).toBe(
    '8 REPLICAS, after 11.3 s: 4 joined under load. Counts are since the start.',
  );
});

test('the conclusion is made of the figures', () => {
  const text = report.conclusion(figures, 100).replaceAll('\n', ' ');
  expect(text).toContain(
    'acme had 400 requests admitted by 4 replicas and 800 by 8: 8.00 × its quota.',
  );
  expect(text).toContain('it had 100 admitted by 4 and still 100 by 8: 1.00 × its quota.');
  expect(text).not.toContain('came back');
});

test('the conclusion does not hide that the shared figure moved', () => {
  const moved = withShared(tally(1_872, 103));
  const text = report.conclusion(moved, 100).replaceAll('\n', ' ');
  expect(text).toContain('it had 100 admitted by 4 and 103, 3 more, by 8: 1.03 × its quota.');
});

test('the conclusion says where permits came back', () => {
  const slow = withShared(tally(1_872, 102), 72_000);
  expect(report.conclusion(slow, 100).replaceAll('\n', ' ')).toContain('up to 2 came back');
  expect(report.problems(slow, 100)).toEqual([]);
});

test('a run as it should be has no problems', () => {
  expect(report.problems(figures, 100)).toEqual([]);
});

test('an overshoot is a problem', () => {
  expect(report.problems(withShared(tally(1_872, 103)), 100)).toEqual([
    'with 8 replicas the shared quota was overshot by 3: 103 admitted, at most 100 allowed',
  ]);
});

test('what was admitted too much at first is a problem too', () => {
  const early = { before: { ...before, shared: tally(600, 101) }, after };
  expect(report.problems(early, 100)).toEqual([
    'with 4 replicas the shared quota was overshot by 1: 101 admitted, at most 100 allowed',
  ]);
});

test('requests that failed are a problem, with their reasons', () => {
  const failed = withShared(tally(1_872, 100, { 'socket hang up': 2, 'HTTP 500: no': 1 }));
  expect(report.problems(failed, 100)).toEqual([
    '2 requests failed (shared quota): socket hang up',
    '1 request failed (shared quota): HTTP 500: no',
  ]);
});

test('JSON is one line with the figures', () => {
  const line = report.toJson('redis', 100, withShared(tally(1_872, 103)));
  expect(line).not.toContain('\n');
  expect(JSON.parse(line)).toEqual({
    store: 'redis',
    replicas: 4,
    limit: 100,
    perReplica: { sent: 600, admitted: 400 },
    shared: { sent: 600, admitted: 100, overshoot: 0 },
    afterScaleOut: {
      replicas: 8,
      perReplica: { sent: 1_872, admitted: 800 },
      shared: { sent: 1_872, admitted: 103, overshoot: 3 },
    },
  });
});

test('the store is named with its reason, and instructions keep their lines', () => {
  const redis = {
    kind: 'redis' as const,
    url: 'redis://127.0.0.1:1',
    prefix: 'p',
    about: 'the one at REDIS_URL',
    close: async () => {},
  };
  expect(report.storeLines(redis)).toBe(
    'Store: Redis, the one at REDIS_URL.\nEach replica is a process of its own.\n',
  );
  const about = 'No Redis. One of these helps:\n  macOS:           brew install redis';
  const text = report.storeLines({ kind: 'memory', about, close: async () => {} });
  expect(text).toContain('Store: the memory of this process');
  expect(text).toContain(`\n${about}\n`);
});

test('everything fits 80 columns', () => {
  const big: Snapshot = {
    replicas: 8,
    elapsedMs: 111_260,
    perReplica: tally(1_234_567, 123_456),
    shared: tally(1_234_567, 1_000),
  };
  const texts = [
    report.introduction(1000),
    report.tables(report.titleAfter({ before, after: big }), big, 1000),
    report.conclusion({ before: big, after: big }, 1000),
    report.progressLine('starting 4 more under load', { ...big, elapsedMs: 9_900 }),
    report.storeLines({ kind: 'memory', about: 'a reason '.repeat(30), close: async () => {} }),
  ];
  for (const text of texts) expect(widest(text)).toBeLessThanOrEqual(79);
});

test('wrap breaks at spaces alone', () => {
  const url = 'x'.repeat(100);
  expect(report.wrap(`see ${url} now`)).toBe(`see\n${url}\nnow`);
  expect(report.wrap('  two\n   words')).toBe('  two\n   words');
});
