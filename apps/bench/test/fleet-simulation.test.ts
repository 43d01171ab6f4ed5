import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Arrivals, makeArrivals } from '../src/fleet-simulation/arrivals.js';
import { overshootOf } from '../src/fleet-simulation/exact-bucket.js';
import { leasingFleet } from '../src/fleet-simulation/leasing-fleet.js';
import { Random } from '../src/fleet-simulation/random.js';
import { type FleetScenario, SCENARIOS } from '../src/fleet-simulation/scenarios.js';
import { exactlyAdmitted, simulate } from '../src/fleet-simulation/simulate.js';
import { Timeline } from '../src/fleet-simulation/timeline.js';
import { usualFleet } from '../src/fleet-simulation/usual-fleet.js';

const PROGRAM = fileURLToPath(new URL('../dist/fleet-simulation.mjs', import.meta.url));

function scenario(name: string, changes: Partial<FleetScenario> = {}): FleetScenario {
  const found = SCENARIOS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no scenario is called ${name}`);
  return { ...found, ...changes };
}

/** `permits` in each of these milliseconds. */
function perMs(permits: Record<number, number>): number[] {
  const last = Math.max(...Object.keys(permits).map(Number));
  return Array.from({ length: last + 1 }, (_, ms) => permits[ms] ?? 0);
}

// One permit a millisecond, 100 at most.
const QUOTA = { limitPerSecond: 1000, burst: 100 };

test.each([
  ['nothing', {}, 0],
  ['a full bucket and all it regains', { 0: 100, 1: 1, 2: 1, 52: 50 }, 0],
  ['one too many', { 0: 101 }, 0.01],
  ['30 where 10 have come back', { 0: 100, 10: 30 }, 0.2],
  ['what a full bucket cannot keep', { 200: 100, 201: 2 }, 0.01],
  ['too many twice: the debt stays', { 0: 110, 5: 20 }, 0.25],
  ['too many twice with time between: the worse counts', { 0: 110, 200: 105 }, 0.1],
])('overshoot: %s', (_, permits: Record<number, number>, overshoot) => {
  expect(overshootOf(QUOTA, perMs(permits))).toBeCloseTo(overshoot, 12);
});

test('the exact reference admits a full bucket, then what comes back', () => {
  const atMs = Float64Array.from([
    ...Array.from({ length: 150 }, () => 0.5), // 100 of them
    ...Array.from({ length: 20 }, () => 5.9), // 5: the millisecond is not over
    ...Array.from({ length: 300 }, () => 500), // 100
  ]);
  const arrivals: Arrivals = { count: atMs.length, atMs, replica: new Uint16Array(atMs.length) };
  expect(exactlyAdmitted({ ...scenario('even-2x'), ...QUOTA }, arrivals)).toBe(205);
});

test('events happen in order of time, and of one instant as they were scheduled', async () => {
  const timeline = new Timeline();
  const random = new Random(1, 'order');
  const happened: [number, number][] = [];
  for (let i = 0; i < 500; i++) {
    const atMs = Math.floor(random.between(0, 50));
    timeline.schedule(atMs, () => {
      happened.push([atMs, i]);
      expect(timeline.nowMs).toBe(atMs);
      return undefined;
    });
  }
  while (timeline.nextAtMs < Number.POSITIVE_INFINITY) await timeline.runNext();
  expect(happened).toHaveLength(500);
  expect(happened).toEqual([...happened].sort(([a, i], [b, j]) => a - b || i - j));
  expect(() => timeline.schedule(timeline.nowMs - 1, () => undefined)).toThrow('it is past');
});

test('requests come as often as the scenario says, where and when it says', () => {
  const shares = (of: FleetScenario) => {
    const { count, atMs, replica } = makeArrivals(of, new Random(3, 'arrivals'));
    expect([...atMs]).toEqual([...atMs].sort((a, b) => a - b));
    const expected = (of.demand * of.limitPerSecond * of.durationMs) / 1000;
    expect(Math.abs(count - expected)).toBeLessThan(5 * Math.sqrt(expected));
    const share = (is: (i: number) => boolean) =>
      Array.from({ length: count }, (_, i) => i).filter(is).length / count;
    return {
      first: share((i) => replica[i] === 0),
      later: share((i) => (replica[i] as number) >= of.replicas),
      high: share((i) => (atMs[i] as number) % 8000 < 2000),
    };
  };
  expect(shares(scenario('even-2x')).first).toBeCloseTo(1 / 20, 1);
  expect(shares(scenario('skewed-2x')).first).toBeCloseTo(0.37, 1);
  expect(shares(scenario('scale-out')).later).toBeCloseTo(1 / 4, 1);
  expect(shares(scenario('bursts')).high).toBeCloseTo(0.99, 1);
});

test('the usual leasing overshoots in bursts and asks for most requests under overload', async () => {
  expect((await simulate(scenario('bursts'), usualFleet, 1)).overshootAtStore).toBeGreaterThan(
    0.25,
  );
  const overload = await simulate(scenario('even-2x'), usualFleet, 1);
  expect(overload.callsPerRequest).toBeGreaterThan(0.6);
  expect(overload.local).toBeLessThan(0.2);
});

/**
 * Leases are held through a pause in which the bucket fills up, and are still good when all come
 * at once: without the room that refill leaves for what is out, this overshoots by 7 % and more.
 */
const RUSH = scenario('bursts', {
  name: 'rush',
  swing: [
    { forMs: 2000, factor: 0.5 },
    { forMs: 400, factor: 0 },
    { forMs: 300, factor: 12 },
    { forMs: 1000, factor: 0 },
  ],
  durationMs: 7400,
});

test.each([
  RUSH,
  scenario('even-2x', { durationMs: 2000 }),
  scenario('bursts', { durationMs: 11_000 }),
  scenario('bursts-20ms', { durationMs: 11_000 }),
  scenario('crashes', { durationMs: 3000, crashesPerSecond: 20 }),
  scenario('burst-50', { durationMs: 2000 }),
])('leases do not overshoot: $name', async (row) => {
  const figures = await simulate(row, leasingFleet, 7);
  expect(figures.overshootAtStore).toBe(0);
  const inFlight = (row.limitPerSecond * row.roundTripMs) / 1000 / row.burst;
  expect(figures.overshootAtReplicas).toBeLessThanOrEqual(inFlight);
  expect(figures.use).toBeGreaterThan(0.9);
  expect(figures.use).toBeLessThan(1.01);
  expect(figures.local).toBeGreaterThan(0.5);
});

test('the same seed gives the same figures, to the digit; another one others', async () => {
  const row = scenario('crashes', { durationMs: 2000 });
  const first = await simulate(row, leasingFleet, 5);
  expect(await simulate(row, leasingFleet, 5)).toEqual(first);
  expect(await simulate(row, leasingFleet, 6)).not.toEqual(first);
});

async function start(...args: string[]): Promise<{
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

test('a run with --json ends with one line of JSON', async () => {
  const { code, stdout, stderr } = await start('--json', '--scenario', 'burst-100-at-50');
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'simulating burst-100-at-50 ...\n' });
  const share = expect.any(Number);
  const figures = {
    overshootAtStore: share,
    overshootAtReplicas: share,
    use: share,
    callsPerRequest: share,
    local: share,
  };
  expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) as string)).toEqual({
    rows: [{ scenario: 'burst-100-at-50', ...figures, usual: figures }],
  });
});

test.each([
  [['--scenario', 'odd'], '--scenario must be one of even-0.8x,'],
  [['--seed', '1.5'], '--seed must be an integer of at most 9 digits, not 1.5'],
  [['--write', '--seed', '2'], '--write is of all scenarios with seed 1'],
  [['--write', '--scenario', 'bursts'], '--write is of all scenarios with seed 1'],
  [['--fast'], "Unknown option '--fast'"],
])('%s is refused', async (args, complaint) => {
  const { code, stdout, stderr } = await start(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(complaint);
  expect(stderr).toContain('usage: npm run bench:leases');
});
