import { CLIENTS, type Tally } from './load.js';
import { API_KEY, boundOf, WINDOW_NAME } from './quota.js';
import { type Figures, REPLICAS, type Snapshot } from './run.js';
import type { Mode } from './service.js';
import type { QuotaStore } from './store.js';

/** Nothing printed is wider, so that it fits a terminal of 80 columns. */
const WIDTH = 78;
const TABLE_WIDTH = 34;
const GAP = '      ';

/** What the run is about, for somebody who sees it for the first time. */
export function introduction(limit: number): string {
  return [
    `ONE QUOTA: ${plural(limit, 'request')} per ${WINDOW_NAME} for the API key "${API_KEY}".`,
    `${CLIENTS} client machines use that key. They call ${REPLICAS} replicas of an HTTP service in`,
    'turn, each request twice, to two routes that differ in one thing alone:',
    '  In-process limiter per replica    each replica counts in its own memory',
    '  Shared quota                      all replicas count in one store',
    '',
  ].join('\n');
}

/** Which store keeps the shared quota, and why. */
export function storeLines(store: QuotaStore): string {
  if (store.kind === 'redis') {
    return [
      wrap(`Store: Redis, ${store.about}.`),
      'Each replica is a process of its own.',
      '',
    ].join('\n');
  }
  return [
    wrap('Store: the memory of this process, with the replicas as HTTP servers in it.'),
    wrap('With a Redis, each replica would be a process of its own.'),
    wrap(store.about),
    '',
  ].join('\n');
}

/** The two tables, side by side, under a title. */
export function tables(title: string, now: Snapshot, limit: number): string {
  const withFailed = now.perReplica.failed + now.shared.failed > 0;
  const left = table('In-process limiter per replica', now.perReplica, limit, withFailed);
  const right = table('Shared quota', now.shared, limit, withFailed);
  const rows = left.map((row, i) => `  ${row}${GAP}${right[i]}`.trimEnd());
  return [wrap(title), '', ...rows, ''].join('\n');
}

function table(title: string, tally: Tally, limit: number, withFailed: boolean): string[] {
  const rows: [string, string][] = [
    ['requests sent', String(tally.sent)],
    ['admitted', String(tally.admitted)],
    ['denied', String(tally.denied)],
  ];
  if (withFailed) rows.push(['failed', String(tally.failed)]);
  rows.push(['admitted ÷ limit', ratio(tally.admitted, limit)]);
  return [
    title.padEnd(TABLE_WIDTH),
    '─'.repeat(TABLE_WIDTH),
    ...rows.map(([label, value]) => label + value.padStart(TABLE_WIDTH - label.length)),
  ];
}

/** The title of the tables before the replicas double. */
export function titleBefore(before: Snapshot): string {
  return `${before.replicas} REPLICAS, after ${seconds(before)} of load`;
}

/** The title of the tables at the end. */
export function titleAfter({ before, after }: Figures): string {
  const joined = after.replicas - before.replicas;
  return `${after.replicas} REPLICAS, after ${seconds(after)}: ${joined} joined under load. Counts are since the start.`;
}

/** What was seen, in two sentences made of the figures, and where to read on. */
export function conclusion({ before, after }: Figures, limit: number): string {
  const each = `With a limiter in each replica, ${API_KEY} had ${before.perReplica.admitted} requests admitted by ${before.replicas} replicas and ${after.perReplica.admitted} by ${after.replicas}: ${ratio(after.perReplica.admitted, limit)} × its quota.`;
  const moved = after.shared.admitted - before.shared.admitted;
  const stayed =
    moved === 0 ? `still ${after.shared.admitted}` : `${after.shared.admitted}, ${moved} more,`;
  const all = `With the shared quota it had ${before.shared.admitted} admitted by ${before.replicas} and ${stayed} by ${after.replicas}: ${ratio(after.shared.admitted, limit)} × its quota.`;
  const { returned } = boundOf(after.shared.admitted, limit, after.elapsedMs);
  const refill =
    returned === 0 ? '' : ` Of these, up to ${returned} came back with time, as the quota refills.`;
  return [
    wrap(`SEEN: ${each} ${all}${refill}`),
    '',
    wrap(
      'READ NEXT: apps/fleet-demo/src/service.ts, the service that was just run, then README.md, how to put the middleware into yours.',
    ),
    '',
  ].join('\n');
}

/** What went wrong in a run: empty where all is well. */
export function problems({ before, after }: Figures, limit: number): string[] {
  const found: string[] = [];
  for (const { replicas, shared, elapsedMs } of [before, after]) {
    const { returned, overshoot } = boundOf(shared.admitted, limit, elapsedMs);
    if (overshoot === 0) continue;
    found.push(
      `with ${replicas} replicas the shared quota was overshot by ${overshoot}: ${shared.admitted} admitted, at most ${limit + returned} allowed`,
    );
  }
  const modes: Record<Mode, string> = { perReplica: 'in-process limiter', shared: 'shared quota' };
  for (const mode of ['perReplica', 'shared'] as const) {
    for (const [reason, count] of after[mode].failures) {
      found.push(`${plural(count, 'request')} failed (${modes[mode]}): ${reason}`);
    }
  }
  return found;
}

/** The figures as one line of JSON, without the line's end. */
export function toJson(store: QuotaStore['kind'], limit: number, figures: Figures): string {
  const { before, after } = figures;
  return JSON.stringify({
    store,
    replicas: before.replicas,
    limit,
    ...jsonCounts(before, limit),
    afterScaleOut: { replicas: after.replicas, ...jsonCounts(after, limit) },
  });
}

function jsonCounts({ perReplica, shared, elapsedMs }: Snapshot, limit: number) {
  const { overshoot } = boundOf(shared.admitted, limit, elapsedMs);
  return {
    perReplica: { sent: perReplica.sent, admitted: perReplica.admitted },
    shared: { sent: shared.sent, admitted: shared.admitted, overshoot },
  };
}

/** The line that is rewritten while the load goes on. */
export function progressLine(step: string, { elapsedMs, perReplica, shared }: Snapshot): string {
  const time = `${(elapsedMs / 1000).toFixed(1)} s`.padStart(6);
  return `${time}  ${step}; admitted: ${perReplica.admitted} in-process, ${shared.admitted} shared`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function ratio(admitted: number, limit: number): string {
  return (admitted / limit).toFixed(2);
}

function seconds({ elapsedMs }: Snapshot): string {
  return `${(elapsedMs / 1000).toFixed(1)} s`;
}

/** Breaks lines that are too wide at spaces; lines that are short enough stay as they are. */
export function wrap(text: string): string {
  return text.split('\n').map(wrapLine).join('\n');
}

function wrapLine(line: string): string {
  if (line.length <= WIDTH) return line;
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (longer.length > WIDTH && current !== '') {
      lines.push(current);
      current = word;
    } else {
      current = longer;
    }
  }
  return [...lines, current].join('\n');
}
