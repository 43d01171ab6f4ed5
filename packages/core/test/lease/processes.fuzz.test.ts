import { afterAll, beforeAll, expect, it } from 'vitest';
import { fleetSeconds } from '../support/fuzz.js';
import { type Admission, worstOvershoot } from '../support/overshoot.js';
import { openShared } from '../support/redis.js';
import { ReplicaProcess } from '../support/replica-process.js';

const REPLICAS = 8;
const BURST = 500;
const PER_MS = 1;
const POLICY = { limit: 1000, window: '1s', burst: BURST, lease: { ttl: '500ms' } };
const NAMES = ['steady', 'waves'] as const;
/** One replica after the other is ended so often, two of three times by kill -9, and another started. */
const END_EVERY_MS = 500;
/** Processes take long to start where the machine has much else to do. */
const TIMEOUT_MS = 120_000 + 2000 * fleetSeconds();

let shared: Awaited<ReturnType<typeof openShared>>;
beforeAll(async () => {
  shared = await openShared();
});
afterAll(() => shared.close());

/** What a policy's admissions were, by what the replicas printed. */
function admissionsOf(name: string, lines: readonly string[]) {
  const admissions: (Admission & { readonly leased: boolean })[] = [];
  for (const line of lines) {
    const [policy, from, to, leased] = line.split(' ');
    if (policy !== name) continue;
    const times = { fromMs: Number(from), toMs: Number(to) };
    admissions.push({ ...times, permits: 1, leased: leased === '1' });
  }
  return admissions;
}

it('G1 8 processes, killed and replaced: they do not overshoot', {
  timeout: TIMEOUT_MS,
}, async () => {
  const prefix = `${shared.prefix}fleet`;
  const policies = JSON.stringify({ steady: POLICY, waves: POLICY });
  const start = () => new ReplicaProcess('lease-replica.mjs', [shared.url, prefix, policies]);
  const all = Array.from({ length: REPLICAS }, start);
  const running = [...all];
  const ended: Promise<void>[] = [];
  await Promise.all(all.map((replica) => replica.ready()));
  const beganAtMs = Date.now();
  for (const replica of all) replica.tell(`${beganAtMs}`);
  for (let i = 0; Date.now() < beganAtMs + 1000 * fleetSeconds(); i++) {
    await new Promise((resolve) => setTimeout(resolve, END_EVERY_MS));
    const replica = running[i % REPLICAS] as ReplicaProcess;
    ended.push(replica.end(i % 3 === 2 ? 'SIGTERM' : 'SIGKILL'));
    const fresh = start();
    fresh.tell(`${beganAtMs}`);
    running[i % REPLICAS] = fresh;
    all.push(fresh);
  }
  await Promise.all([...ended, ...running.map((replica) => replica.end('SIGTERM'))]);

  const lines = all.flatMap((replica) => replica.lines);
  for (const name of NAMES) {
    const admissions = admissionsOf(name, lines);
    expect(admissions.length).toBeGreaterThan(BURST);
    expect(admissions.some(({ leased }) => leased)).toBe(true);
    expect(worstOvershoot(admissions, BURST, PER_MS)).toBeLessThanOrEqual(0);
  }
});
