import type { Algorithm, Policy } from '../../policy/policy.js';
import { DAY } from './case.js';
import { type Behaviour, forEachAlgorithm, policyOf } from './contract-test.js';
import { during, expectEqual, text } from './expect.js';
import type { Subject } from './subject.js';

const LONG = 'x'.repeat(299);

/** Partition keys that a store could take for one another, or trip over. */
const ODD_KEYS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  '\u00e9',
  'e\u0301',
  `${LONG}a`,
  `${LONG}b`,
  `${'x'.repeat(2 ** 20)}a`,
  `${'x'.repeat(2 ** 20)}b`,
  '\ud83d',
  '\ude00',
  '\ud83d\ude00',
  '\ufffd',
  '{',
  '{}',
  '}{',
  'a{b}c',
  'x{b}y',
  'a',
  'A',
  ' a',
  'a ',
  'a b',
  'a\u0000b',
  'a\u0000c',
  'a\r\nb',
  'a:b',
  'a/b',
  'a*',
  '%',
  '%0020',
  ' ',
  '0',
  '00',
];

/** Wait for a full bucket after ten calls, under 500 per 24 h and 10 per 60 s. */
const RESETS: Readonly<Record<Algorithm, readonly [number, number]>> = {
  'token-bucket': [DAY / 50, 60_000],
  gcra: [DAY / 50, 60_000],
  'fixed-window': [DAY, 60_000],
  'sliding-window': [2 * DAY, 120_000],
  'sliding-log': [DAY, 60_000],
};

/** Buckets stay apart: by policy name and by partition key. */
export const APART_BEHAVIOURS: readonly Behaviour[] = [
  ...forEachAlgorithm('C-05 policies on one store are independent', async (subject, algorithm) => {
    const wide = policyOf({ limit: 500, window: '24h', algorithm }, 'wide');
    const narrow = policyOf({ limit: 10, window: '60s', algorithm }, 'narrow');
    for (let i = 0; i < 10; i++) {
      await subject.consume(wide, 'key');
      await subject.consume(narrow, 'key');
    }
    const [a, b] = [await subject.look(wide, 'key'), await subject.look(narrow, 'key')];
    expectEqual('remaining', [a.remaining, b.remaining], [490, 0]);
    expectEqual('resetAfterMs', [a.resetAfterMs, b.resetAfterMs], RESETS[algorithm]);
    expectEqual('narrow', (await subject.consume(narrow, 'key')).allowed, false);
    expectEqual('wide', (await subject.consume(wide, 'key')).allowed, true);
  }),
  ...forEachAlgorithm('keys that look alike, or odd, stay apart', (subject, algorithm) =>
    expectApart(
      subject,
      algorithm,
      ODD_KEYS.map((key) => ['contract', key]),
    ),
  ),
  ...forEachAlgorithm('policy names and keys do not run into each other', (subject, algorithm) => {
    const names = ['a', 'A', 'b', 'a.b', 'a-b', 'a_b'];
    const keys = ['a', 'b', 'a:b', 'b:a', 'a.b', 'b_a', '}:a', '}:b'];
    const buckets = names.flatMap((name) => keys.map((key) => [name, key] as const));
    return expectApart(subject, algorithm, buckets);
  }),
];

/** Each bucket holds one permit, which no call on another takes; a reset of one resets it alone. */
async function expectApart(
  subject: Subject,
  algorithm: Algorithm,
  buckets: readonly (readonly [name: string, key: string])[],
): Promise<void> {
  const policies: Record<string, Policy> = {};
  for (const [name] of buckets) {
    policies[name] ??= policyOf({ limit: 1, window: '1h', algorithm }, name);
  }
  const each = buckets.map(([name, key]) => ({ policy: policies[name] as Policy, key }));
  const expectEach = async (isAllowed: (index: number) => boolean) => {
    const decisions = await Promise.all(
      each.map(({ policy, key }) => subject.consume(policy, key)),
    );
    decisions.forEach(({ allowed }, i) => {
      expectEqual(`allowed, of ${showBucket(each[i] as Bucket)}`, allowed, isAllowed(i));
    });
  };
  await during('the first calls', () => expectEach(() => true));
  await during('the second calls', () => expectEach(() => false));
  const { policy, key } = each[0] as Bucket;
  await subject.reset(policy, key);
  await during('after a reset of the first', () => expectEach((i) => i === 0));
}

interface Bucket {
  readonly policy: Policy;
  readonly key: string;
}

/** A bucket as messages show it: long keys by their ends. */
function showBucket({ policy, key }: Bucket): string {
  const short = key.length > 40 ? `${key.slice(0, 10)}…${key.slice(-10)}` : key;
  return `policy ${policy.name}, key ${text(short)} (${key.length} characters)`;
}
