import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sharedRedis } from '@rl/testkit';
import { afterEach, expect, test, vi } from 'vitest';

// Nine processes start: soon on a machine at rest, not so on one that runs all tests at once.
vi.setConfig({ testTimeout: 60_000 });

const MAIN = fileURLToPath(new URL('../dist/main.mjs', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Runs the demo until it, and everything that writes to its stderr, has ended: its replicas do.
 * `onStderr` is given all it has printed there whenever that grows.
 */
function demo(
  args: string[],
  redisUrl: string | undefined,
  onStderr: (text: string, child: ChildProcess) => void = () => {},
): Promise<Ended> {
  const { REDIS_URL: _, ...env } = process.env;
  if (redisUrl !== undefined) env.REDIS_URL = redisUrl;
  const child = spawn(process.execPath, [MAIN, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    onStderr(stderr, child);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      running.delete(child);
      resolve({ code, stdout, stderr });
    });
  });
}

test.each(['memory', 'redis'])(
  'on %s the shared quota is kept and the other is not',
  async (store) => {
    const { url } = await sharedRedis();
    const { code, stdout, stderr } = await demo(['--json', '--store', store, '--limit', '10'], url);
    expect(stderr).not.toContain('fleet-demo:');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\{.*\}\n$/);
    const figures = JSON.parse(stdout);
    const { perReplica, shared, afterScaleOut } = figures;
    expect(figures).toEqual({
      store,
      replicas: 4,
      limit: 10,
      perReplica: { sent: perReplica.sent, admitted: 4 * 10 },
      shared: { sent: perReplica.sent, admitted: 10, overshoot: 0 },
      afterScaleOut: {
        replicas: 8,
        perReplica: { sent: afterScaleOut.perReplica.sent, admitted: 8 * 10 },
        shared: { sent: afterScaleOut.perReplica.sent, admitted: 10, overshoot: 0 },
      },
    });
    expect(shared.sent).toBeGreaterThanOrEqual(4 * 12);
    expect(afterScaleOut.shared.sent).toBeGreaterThanOrEqual(shared.sent + 8 * 12);
  },
);

test('without --json the tables are on stdout, the progress on stderr', async () => {
  const { code, stdout, stderr } = await demo(['--store', 'memory', '--limit', '4'], undefined);
  expect(code).toBe(0);
  expect(stdout).toContain('ONE QUOTA: 4 requests per hour for the API key "acme".');
  expect(stdout).toContain('Memory was asked for, by --store memory.');
  expect(stdout).toContain(
    '  admitted                        16      admitted                         4\n',
  );
  expect(stdout).toContain(
    '  admitted                        32      admitted                         4\n',
  );
  expect(stdout.indexOf('4 REPLICAS')).toBeLessThan(stdout.indexOf('8 REPLICAS'));
  expect(stdout).toContain('READ NEXT');
  expect(stderr).toContain('starting 4 more under load ...\n');
  expect(stderr).not.toContain('\r');
});

test('an option that cannot be used is told of on stderr, with exit code 2', async () => {
  expect(await demo(['--fast'], undefined)).toEqual({
    code: 2,
    stdout: '',
    stderr: "fleet-demo: Unknown option '--fast'\nSee --help.\n",
  });
});

test('--help is on stdout', async () => {
  const { code, stdout, stderr } = await demo(['--help'], undefined);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('--limit N');
});

test('a REDIS_URL that does not answer ends the demo with exit code 1 and the reason', async () => {
  const { code, stdout, stderr } = await demo(['--json'], '/nowhere/redis.sock');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('fleet-demo: REDIS_URL does not answer: ');
});

test('Ctrl-C ends the demo and its replicas', async () => {
  let sent = false;
  const { code, stdout, stderr } = await demo(['--json'], undefined, (text, child) => {
    if (sent || !text.includes('load on 4 replicas')) return;
    sent = child.kill('SIGINT');
  });
  expect({ code, stdout, stderr }).toEqual({
    code: 130,
    stdout: '',
    stderr: expect.stringMatching(/^fleet-demo: ended by SIGINT\n$/m),
  });
});

test('a demo that is killed leaves no replica behind', async () => {
  const ended = await demo(['--json'], undefined, (text, child) => {
    if (text.includes('load on 4 replicas')) child.kill('SIGKILL');
  });
  expect(ended).toMatchObject({ code: null, stdout: '' });
});
