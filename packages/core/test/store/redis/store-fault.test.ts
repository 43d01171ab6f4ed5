import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import {
  faultOf,
  isDenied,
  isReplica,
  NotConnected,
} from '../../../src/store/redis/store-fault.js';

const SHA = '54bd3ae4d838077778fbec7a9e0778a06f201a78';
/** As a server before Redis 7 words the error of a command that a script called. */
const wrapped = (text: string) =>
  `ERR Error running script (call to f_${SHA}): @user_script:12: @user_script: 12: ${text}`;
/** As Redis 7 does. */
const inScript = (text: string) => `${text} script: ${SHA}, on @user_script:12.`;

const READ_ONLY = "READONLY You can't write against a read only replica.";
const OOM = "OOM command not allowed when used memory > 'maxmemory'.";

describe('what a server says', () => {
  it.each([
    ['unavailable', 'LOADING Redis is loading the dataset in memory'],
    ['unavailable', 'BUSY Redis is busy running a script. You can only call SCRIPT KILL.'],
    ['unavailable', 'TRYAGAIN Multiple keys request during rehashing of slot'],
    ['unavailable', 'CLUSTERDOWN Hash slot not served'],
    ['unavailable', 'CLUSTERDOWN The cluster is down'],
    [
      'unavailable',
      "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    ],
    ['unavailable', 'MOVED 3999 127.0.0.1:6381'],
    ['unavailable', 'ERR max number of clients reached'],
    [
      'unavailable',
      'Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN The cluster is down',
    ],
    ['read-only', READ_ONLY],
    ['read-only', inScript(READ_ONLY)],
    ['read-only', wrapped(`-${READ_ONLY}`)],
    [
      'read-only',
      "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to",
    ],
    ['read-only', 'NOREPLICAS Not enough good replicas to write.'],
    ['read-only', wrapped('-NOREPLICAS Not enough good replicas to write.')],
    ['memory', OOM],
    ['memory', inScript(OOM)],
    ['memory', wrapped(`-${OOM}`)],
    ['memory', wrapped(OOM)],
    ['permission', 'NOAUTH Authentication required.'],
    ['permission', 'WRONGPASS invalid username-password pair or user is disabled.'],
    ['permission', 'ERR invalid password'],
    ['permission', "NOPERM this user has no permissions to run the 'evalsha' command"],
    ['permission', "NOPERM User x has no permissions to access the 'rl:{k}:a:tb1' key"],
    [
      'permission',
      inScript("ERR The user executing the script can't run this command or subcommand"),
    ],
    [
      'permission',
      inScript("NOPERM ACL failure in script: User x has no permissions to run the 'time' command"),
    ],
    [
      'permission',
      wrapped("-NOPERM The user executing the script can't run this command or subcommand"),
    ],
    ['permission', 'DENIED Redis is running in protected mode because protected mode is enabled'],
    ['permission', "ERR unknown command 'eval', with args beginning with: 'local call'"],
    ['other', 'ERR user_script:1: attempt to index a nil value'],
    ['other', 'WRONGTYPE Operation against a key holding the wrong kind of value'],
    ['other', 'BUSYGROUP Consumer Group name already exists'],
    ['other', "CROSSSLOT Keys in request don't hash to the same slot"],
    ['other', 'ERR something about READONLY and OOM'],
  ])('%s: %s', (fault, text) => {
    expect(faultOf(new Error(text))).toBe(fault);
    expect(faultOf(text)).toBe(fault);
  });
});

describe('what a client says', () => {
  const withCode = (code: string) => Object.assign(new Error(`connect ${code}`), { code });
  it.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'ECONNABORTED',
    'EPIPE',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ETIMEDOUT',
    'ENOENT',
    'CERT_HAS_EXPIRED',
  ])('%s is no connection', (code) => {
    expect(faultOf(withCode(code))).toBe('connection');
    expect(faultOf(new AggregateError([withCode(code)], ''))).toBe('connection');
    expect(faultOf(new Error('it failed', { cause: withCode(code) }))).toBe('connection');
  });

  it.each([
    ['connection', 'Connection is closed.'],
    ['connection', "Stream isn't writeable and enableOfflineQueue options is false"],
    ['connection', "Cluster isn't ready and enableOfflineQueue options is false"],
    ['connection', 'Cluster is ended.'],
    ['connection', 'None of startup nodes is available'],
    ['connection', 'Failed to refresh slots cache.'],
    ['connection', 'Command aborted due to connection close'],
    ['connection', 'Reached the max retries per request limit (which is 0).'],
    ['connection', 'All sentinels are unreachable. Retrying from scratch after 10ms.'],
    ['timeout', 'Command timed out'],
    ['timeout', "Socket timeout. Expecting data, but didn't receive any in 100ms."],
    ['other', 'Unexpected token'],
  ])('%s: %s', (fault, text) => {
    expect(faultOf(new Error(text))).toBe(fault);
  });

  it("a Cluster's last error of a node says more than that all of them failed", () => {
    const failed = (lastNodeError: Error) =>
      Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError });
    expect(faultOf(failed(new Error('NOAUTH Authentication required.')))).toBe('permission');
    expect(faultOf(failed(new Error('something new')))).toBe('connection');
  });

  it('what the gate refused, what is no error, and what goes in circles', () => {
    const circle = new Error('round');
    circle.cause = circle;
    const values = [new NotConnected('it is away'), undefined, null, 7, {}, circle];
    expect(values.map(faultOf)).toEqual(['connection', ...Array(5).fill('other')]);
  });

  it('the errors that ioredis makes where nobody listens', async () => {
    const options = { path: '/nowhere/redis.sock', maxRetriesPerRequest: 0 };
    const client = new Redis(options).on('error', () => {});
    const offline = new Redis({ ...options, enableOfflineQueue: false }).on('error', () => {});
    const failures = await Promise.all(
      [client, offline].map((c) => c.get('k').catch((error: Error) => error)),
    );
    expect(failures.map(faultOf)).toEqual(['connection', 'connection']);
    for (const c of [client, offline]) c.disconnect();
  });
});

it('tells a server that is a replica from one that cannot write for another reason', () => {
  const says = [
    READ_ONLY,
    inScript(READ_ONLY),
    wrapped(`-${READ_ONLY}`),
    'MASTERDOWN Link with MASTER',
  ];
  expect(says.map((text) => isReplica(new Error(text)))).toEqual([true, true, true, true]);
  expect([OOM, 'NOREPLICAS Not enough', 'LOADING'].map(isReplica)).toEqual([false, false, false]);
});

it('tells a denial by the ACL from a login that failed', () => {
  const says = ['NOPERM no', inScript("ERR The user executing the script can't access a key")];
  expect(says.map(isDenied)).toEqual([true, true]);
  expect(['NOAUTH Authentication required.', OOM].map(isDenied)).toEqual([false, false]);
});
