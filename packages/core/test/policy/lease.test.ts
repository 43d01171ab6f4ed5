import { describe, expect, it } from 'vitest';
import { isRateLimitError } from '../../src/errors.js';
import { createLimiter } from '../../src/limiter/limiter.js';
import { PolicyBook } from '../../src/limiter/policy-book.js';
import type { LeaseOptions, LeaseTerms } from '../../src/policy/lease-terms.js';
import {
  describePolicy,
  type PolicyOptions,
  parsePolicy,
  samePolicy,
} from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';

const PLAIN = { limit: 100, window: '10s' };

function terms(options: Partial<PolicyOptions>): LeaseTerms | undefined {
  return parsePolicy('p', { ...PLAIN, ...options }, '').lease;
}

/** The error of what is refused, as users of a limiter see it. */
function refusal(action: () => unknown) {
  try {
    action();
  } catch (error) {
    if (isRateLimitError(error)) {
      const { code, field, message } = error;
      return { kind: error.constructor.name, code, field, message };
    }
  }
  throw new Error('not refused');
}

/** The horizon of a ttl, where none is told. */
const horizonOf = (ttlMs: number) => Math.floor(0.3 * ttlMs);

/** The pace of a bucket that does not fill up sooner, where none is told. */
const PACE_MS = 60;

const COMPLETE: LeaseTerms = {
  ttlMs: 1000,
  horizonMs: horizonOf(1000),
  share: 50,
  paceMs: PACE_MS,
};

describe('the lease of a policy', () => {
  it.each([undefined, false] as const)('there is none with %j', (lease) => {
    expect(terms({ lease })).toBeUndefined();
    expect(terms({})).toBeUndefined();
  });

  it.each<[string, true | LeaseOptions, Partial<LeaseTerms>]>([
    ['true is all defaults', true, {}],
    ['so is an empty object', {}, {}],
    [
      'and one whose fields are undefined',
      { ttl: undefined, horizon: undefined, maxShare: undefined, pace: undefined },
      {},
    ],
    ['a ttl brings its horizon', { ttl: '4s' }, { ttlMs: 4000, horizonMs: horizonOf(4000) }],
    ['a horizon is whole milliseconds', { ttl: 102 }, { ttlMs: 102, horizonMs: horizonOf(102) }],
    ['the shortest ttl', { ttl: 100 }, { ttlMs: 100, horizonMs: horizonOf(100) }],
    ['the longest ttl', { ttl: '1m' }, { ttlMs: 60_000, horizonMs: horizonOf(60_000) }],
    ['the shortest horizon', { horizon: 1 }, { horizonMs: 1 }],
    ['the longest horizon', { horizon: '500ms' }, { horizonMs: 500 }],
    ['half of a ttl that is odd', { ttl: 101, horizon: 50 }, { ttlMs: 101, horizonMs: 50 }],
    ['a share', { maxShare: 0.1 }, { share: 10 }],
    ['all', { maxShare: 1 }, { share: 100 }],
    ['a share is whole permits', { maxShare: 0.019 }, { share: 1 }],
    ['and at least one', { maxShare: Number.MIN_VALUE }, { share: 1 }],
    ['the shortest pace', { pace: '1ms' }, { paceMs: 1 }],
    ['the longest pace', { pace: '1s' }, { paceMs: 1000 }],
  ])('%s: %j', (_, lease, expected) => {
    expect(terms({ lease })).toEqual({ ...COMPLETE, ...expected });
    expect(Object.isFrozen(terms({ lease }))).toBe(true);
  });

  it.each<[string, PolicyOptions, number]>([
    ['the usual', { limit: 5, window: '1s' }, PACE_MS],
    ['a quarter of the time to fill up, where that is less', { limit: 100, window: 199 }, 49],
    ['of a burst below the limit', { limit: 1000, window: '1s', burst: 50 }, 12],
    ['of a burst above the limit', { limit: 100, window: 100, burst: 300 }, PACE_MS],
    ['at least 1 ms', { limit: 1000, window: '1s', burst: 1 }, 1],
    ['the usual where it never fills up', { limit: 0, window: '1s' }, PACE_MS],
    ['of a window', { limit: 5, window: 40, algorithm: 'fixed-window' }, 10],
    ['of a sliding window', { limit: 5, window: 40, algorithm: 'sliding-window' }, 10],
  ])('the pace is %s: %j', (_, options, paceMs) => {
    expect(parsePolicy('p', { ...options, lease: true }, '').lease?.paceMs).toBe(paceMs);
  });

  it('the share is of the burst', () => {
    expect(terms({ burst: 7, lease: true })?.share).toBe(3);
    expect(terms({ burst: 1, lease: true })?.share).toBe(1);
    expect(terms({ limit: 0, lease: true })?.share).toBe(1);
  });

  it('is told in words', () => {
    expect(
      describePolicy(
        parsePolicy('p', { ...PLAIN, lease: { ttl: '2s', horizon: '0.5s', pace: 50 } }, ''),
      ),
    ).toBe('100 per 10s, burst 100, lease of 2s, horizon 500ms, share 50, pace 50ms');
  });
});

describe('C-02 a lease that cannot be used is refused: the field is named and the value shown', () => {
  const lease = 'true, false or an object such as { ttl: "1s" }';
  const duration = 'a whole number of milliseconds above 0, or a text like';
  const share = 'a number above 0, up to 1';
  it.each<[unknown, string, string, string]>([
    [null, 'TypeError', '', `${lease}, got null`],
    ['1s', 'TypeError', '', `${lease}, got "1s"`],
    [1000, 'TypeError', '', `${lease}, got 1000`],
    [{ ttl: 99 }, 'RangeError', '.ttl', 'from 100ms to 1m, got 99'],
    [{ ttl: '61s' }, 'RangeError', '.ttl', 'from 100ms to 1m, got "61s"'],
    [{ ttl: 0 }, 'RangeError', '.ttl', `${duration} `],
    [{ ttl: 100.5 }, 'RangeError', '.ttl', 'got 100.5'],
    [{ ttl: '1 fortnight' }, 'RangeError', '.ttl', 'got "1 fortnight"'],
    [{ ttl: true }, 'TypeError', '.ttl', 'got true'],
    [{ horizon: '501ms' }, 'RangeError', '.horizon', 'from 1ms to 500ms, got "501ms"'],
    [{ ttl: 101, horizon: 51 }, 'RangeError', '.horizon', 'from 1ms to 50ms, got 51'],
    [{ horizon: 0 }, 'RangeError', '.horizon', 'got 0'],
    [{ horizon: [] }, 'TypeError', '.horizon', 'got an array'],
    [{ maxShare: 0 }, 'RangeError', '.maxShare', `${share}, got 0`],
    [{ maxShare: -0.5 }, 'RangeError', '.maxShare', `${share}, got -0.5`],
    [{ maxShare: 1.01 }, 'RangeError', '.maxShare', `${share}, got 1.01`],
    [{ maxShare: Number.NaN }, 'RangeError', '.maxShare', `${share}, got NaN`],
    [{ maxShare: '50%' }, 'TypeError', '.maxShare', `${share}, got "50%"`],
    [{ maxShare: null }, 'TypeError', '.maxShare', `${share}, got null`],
    [{ pace: 0 }, 'RangeError', '.pace', 'got 0'],
    [{ pace: 1001 }, 'RangeError', '.pace', 'from 1ms to 1s, got 1001'],
    [{ ttl: 200, pace: '1s' }, 'RangeError', '.pace', 'from 1ms to 200ms, got "1s"'],
    [{ pace: {} }, 'TypeError', '.pace', 'got an object'],
  ])('%j', (value, kind, field, message) => {
    const policies = { tenant: { ...PLAIN, lease: value } } as never;
    const refused = refusal(() => createLimiter({ policies }));
    expect(refused).toMatchObject({ kind, field: `policies.tenant.lease${field}` });
    expect(refused.message).toContain(`policies.tenant.lease${field} must be `);
    expect(refused.message).toContain(message);
  });

  it('an option that does not exist is not ignored', () => {
    expect(refusal(() => terms({ lease: { batch: 10 } as LeaseOptions }))).toMatchObject({
      kind: 'TypeError',
      code: 'RL_UNKNOWN_OPTION',
      field: 'lease.batch',
      message: 'lease.batch is not an option; the options are ttl, horizon, maxShare, pace',
    });
  });

  it.each([
    ['gcra', 'which has each call wait its turn', 'token-bucket can be leased'],
    ['sliding-log', 'which keeps the instant of each call', 'sliding-window can be leased'],
  ] as const)('%s cannot be leased, and the error says why', (algorithm, why, instead) => {
    for (const [lease, shown] of [
      [true, 'true'],
      [{ ttl: '1s' }, 'an object'],
    ] as const) {
      const refused = refusal(() => terms({ algorithm, lease }));
      expect(refused).toMatchObject({ kind: 'RangeError', field: 'lease' });
      expect(refused.message).toMatch(/^lease must be left out with /);
      expect(refused.message).toContain(why);
      expect(refused.message).toContain(instead);
      expect(refused.message).toMatch(new RegExp(`, got ${shown}$`));
    }
    expect(terms({ algorithm, lease: false })).toBeUndefined();
  });
});

describe('policies that differ in their lease only', () => {
  const leases: readonly (LeaseOptions | false)[] = [
    false,
    {},
    { ttl: '2s', horizon: horizonOf(1000) },
    { horizon: 100 },
    { maxShare: 0.25 },
    { pace: 20 },
  ];

  it('are not the same policy', () => {
    const parsed = leases.map((lease) => parsePolicy('p', { ...PLAIN, lease }, ''));
    for (const [i, a] of parsed.entries()) {
      for (const [j, b] of parsed.entries()) expect(samePolicy(a, b)).toBe(i === j);
    }
    const again = parsePolicy('p', { ...PLAIN, lease: { ttl: 1000, pace: `${PACE_MS}ms` } }, '');
    expect(samePolicy(parsed[1] as typeof again, again)).toBe(true);
  });

  it('are in conflict where two limiters share a store', async () => {
    const store = memoryStore();
    const open = (lease: boolean | LeaseOptions) =>
      createLimiter({ policies: { p: { ...PLAIN, lease } }, store });
    const first = open({ ttl: '2s', horizon: 500, pace: 50 });
    expect(refusal(() => open({ horizon: 250, pace: '40ms' }))).toMatchObject({
      code: 'RL_POLICY_CONFLICT',
      message:
        'policy "p" is in use on this store with other values (100 per 10s, burst 100, ' +
        'lease of 2s, horizon 500ms, share 50, pace 50ms; now 100 per 10s, burst 100, ' +
        'lease of 1s, horizon 250ms, share 50, pace 40ms); give one of them another name',
    });
    expect(refusal(() => open(false)).message).toContain('; now 100 per 10s, burst 100)');
    const same = open({ ttl: 2000, horizon: '500ms', pace: '50ms' });
    await Promise.all([first.close(), same.close()]);
    await open(true).close();
    await store.close();
  });
});

describe('the lease of a policy that a call changes', () => {
  const book = new PolicyBook({
    leased: { ...PLAIN, lease: { ttl: '4s', maxShare: 0.1 } },
    plain: PLAIN,
  });
  const changed = (name: 'leased' | 'plain', change: Partial<PolicyOptions>) => {
    const policy = book.policies.get(name);
    if (policy === undefined) throw new Error(`no policy ${name}`);
    return book.changed(policy, change);
  };

  it('stays, and its share follows the new burst', () => {
    const kept = { ttlMs: 4000, horizonMs: horizonOf(4000), paceMs: PACE_MS };
    expect(changed('leased', { limit: 500 }).lease).toEqual({ ...kept, share: 50 });
    expect(changed('leased', { burst: 20, lease: undefined }).lease).toEqual({ ...kept, share: 2 });
  });

  it('is replaced as a whole, or left out', () => {
    expect(changed('leased', { lease: { pace: 10 } }).lease).toEqual({ ...COMPLETE, paceMs: 10 });
    expect(changed('leased', { lease: false }).lease).toBeUndefined();
    expect(changed('plain', { lease: true }).lease).toEqual(COMPLETE);
  });

  it('is the same object for equal changes', () => {
    const once = changed('plain', { lease: { ttl: '2s' } });
    expect(changed('plain', { lease: { ttl: '2s' } })).toBe(once);
    expect(changed('plain', { lease: { ttl: '3s' } })).not.toBe(once);
  });

  it('is checked as any', () => {
    expect(refusal(() => changed('plain', { lease: { ttl: 5 } })).field).toBe(
      'policies.plain.lease.ttl',
    );
    expect(refusal(() => changed('leased', { algorithm: 'gcra' })).field).toBe(
      'policies.leased.lease',
    );
  });
});
