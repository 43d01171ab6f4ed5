import { randomPrefix, sharedRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Gate, type Verdict } from '../../src/http/gate.js';
import { HEADER_PRESETS, parseHeaders } from '../../src/http/headers/formats.js';
import { HeaderReport } from '../../src/http/headers/report.js';
import { ALGORITHMS, type Algorithm } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { frozenRedisStore } from '../../src/testing/frozen-redis-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { PATIENT } from '../support/patient.js';
import { readerOf, seen } from './gates.js';

afterEach(() => void vi.restoreAllMocks());

const REPORTS = HEADER_PRESETS.map((preset) => new HeaderReport(parseHeaders(preset)));

/** 2 per second, and a request each 10 ms over 5 windows: all that each of them is told. */
async function everyAnswer(
  algorithm: Algorithm,
  open: (clock: ManualClock) => Store,
): Promise<Record<string, string>[]> {
  const clock = new ManualClock();
  vi.spyOn(Date, 'now').mockImplementation(() => clock.nowMs());
  const store = open(clock);
  const gate = new Gate<object>(
    { store, fallback: PATIENT, algorithm, limit: 2, window: '1s', key: () => 'ann' },
    readerOf(() => undefined),
  );
  const answers: Record<string, string>[] = [];
  for (let i = 0; i < 500; i++) {
    const verdict = (await gate.judge({})) as Verdict;
    const { decision } = verdict;
    if (decision === undefined) throw new Error('there is no decision');
    const { 'Retry-After': wait = 'none' } = seen(verdict);
    const all: Record<string, string> = { 'Retry-After': wait };
    for (const [n, report] of REPORTS.entries()) {
      const { append, replace } = report.headersOf({}, [{ decision, key: 'ann' }]);
      for (const [name, value] of [...append, ...replace]) {
        all[`${HEADER_PRESETS[n]} ${name}`] = value;
      }
    }
    answers.push(all);
    clock.advance(10);
  }
  await gate.close();
  await store.close();
  vi.restoreAllMocks();
  return answers;
}

/** A number of a field, by what stands before it. */
function numberOf(field: string | undefined, before: string): number {
  const text = field?.split(before)[1] ?? '';
  if (!/^\d+(?![\d.])/.test(text)) throw new Error(`no number behind ${before} in ${field}`);
  return Number.parseInt(text, 10);
}

const START_S = new ManualClock().nowMs() / 1000;

describe.each(ALGORITHMS)('H-04 %s: values are sane at any moment', (algorithm) => {
  it('for every preset', async () => {
    const answers = await everyAnswer(algorithm, (clock) => memoryStore({ clock }));
    const waits = answers.map((answer) => answer['Retry-After']);
    expect(waits.filter((wait) => wait === 'none').length).toBeGreaterThanOrEqual(5);
    // A sliding window also waits for the end of the present one.
    const longest = algorithm === 'sliding-window' ? ['none', '1', '2'] : ['none', '1'];
    expect(new Set(waits)).toEqual(new Set(longest));
    for (const [i, answer] of answers.entries()) {
      const isDenied = answer['Retry-After'] !== 'none';
      const remaining = numberOf(answer['draft-11 RateLimit'], ';r=');
      expect(remaining).toBeLessThanOrEqual(isDenied ? 0 : 1);
      expect(answer['draft-8 RateLimit']).toBe(answer['draft-11 RateLimit']);
      const reset = numberOf(answer['draft-7 RateLimit'], 'reset=');
      expect(numberOf(answer['draft-11 RateLimit'], ';t=')).toBeGreaterThanOrEqual(1);
      expect(reset).toBeGreaterThanOrEqual(1);
      // A sliding window forgets the one before it only when that is over.
      expect(reset).toBeLessThanOrEqual(2);
      expect(answer['draft-7 RateLimit']).toBe(`limit=2, remaining=${remaining}, reset=${reset}`);
      for (const family of ['draft-6 RateLimit', 'legacy-delta X-RateLimit']) {
        expect(answer[`${family}-Limit`]).toBe('2');
        expect(answer[`${family}-Remaining`]).toBe(`${remaining}`);
        expect(answer[`${family}-Reset`]).toBe(`${reset}`);
      }
      const nowS = START_S + i / 100;
      for (const family of ['legacy-epoch X-RateLimit', 'x-rate-limit X-Rate-Limit']) {
        expect(answer[`${family}-Remaining`]).toBe(`${remaining}`);
        const ahead = Number(answer[`${family}-Reset`]) - nowS;
        expect(ahead).toBeGreaterThan(0);
        expect(ahead).toBeLessThan(reset + 1);
      }
    }
  });
});

describe.each(['token-bucket', 'sliding-window'] as const)(
  'H-04 %s: the values are the same',
  (algorithm) => {
    it.each([
      ['ioredis 6', Redis],
      ['ioredis 5', Redis5 as unknown as typeof Redis],
    ])('by %s as in memory', async (_, Client) => {
      const client = new Client((await sharedRedis()).connection);
      try {
        const answers = await everyAnswer(algorithm, (clock) =>
          frozenRedisStore(client, clock, { prefix: randomPrefix() }),
        );
        expect(answers).toEqual(await everyAnswer(algorithm, (clock) => memoryStore({ clock })));
      } finally {
        await client.quit();
      }
    });
  },
);
