import fc from 'fast-check';

/** What becomes of a message. */
export interface Fate {
  readonly thereMs: number;
  readonly backMs: number;
  readonly lost: 'no' | 'there' | 'back';
  /** Delivered once more so much later. */
  readonly againMs: number | undefined;
  /** The replica does not wait for so long an answer, and says that there was none. */
  readonly patienceMs: number;
  /** Whether the answer is told to the pool twice. */
  readonly toldTwice: boolean;
  /** Whether all that the home store has is spent right before it arrives, and once more right behind. */
  readonly rushed: boolean;
  /** So long after its life all that is to be had anywhere is spent. */
  readonly lookMs: number;
}

export type Act =
  /** `all`: what is held, permit by permit, and one more. */
  | { readonly did: 'take'; readonly costs: readonly number[] | 'all'; readonly fate: Fate }
  | {
      readonly did: 'lend';
      readonly holder: 0 | 1;
      readonly permits: number;
      /** How much of what it holds the holder has spent, and when it spends the rest. */
      readonly spent: number;
      readonly returns: boolean;
      readonly twice: boolean;
      readonly fate: Fate;
    }
  | { readonly did: 'put back' }
  | { readonly did: 'settle'; readonly fate: Fate }
  | { readonly did: 'empty' }
  | { readonly did: 'step'; readonly byMs: number };

export interface Step {
  readonly afterMs: number;
  readonly region: 0 | 1 | 2;
  readonly act: Act;
}

export interface PoolHistory {
  readonly limit: number;
  readonly burst: number;
  readonly ttlMs: number;
  /** How fast the regions' clocks go. */
  readonly rates: readonly number[];
  readonly steps: readonly Step[];
}

const fates: fc.Arbitrary<Fate> = fc.record({
  thereMs: fc.oneof({ weight: 4, arbitrary: fc.nat(6) }, { weight: 1, arbitrary: fc.nat(150) }),
  backMs: fc.oneof({ weight: 4, arbitrary: fc.nat(6) }, { weight: 1, arbitrary: fc.nat(150) }),
  lost: fc.constantFrom(
    'no' as const,
    'no' as const,
    'no' as const,
    'no' as const,
    'there' as const,
    'back' as const,
  ),
  againMs: fc.option(fc.nat(200), { nil: undefined, freq: 4 }),
  patienceMs: fc.oneof(
    { weight: 4, arbitrary: fc.constant(1000) },
    { weight: 1, arbitrary: fc.nat(120) },
  ),
  toldTwice: fc.boolean(),
  rushed: fc.constantFrom(false, false, false, true),
  lookMs: fc.oneof(fc.constant(-1), fc.nat(200)),
});

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      did: fc.constant('take' as const),
      costs: fc.oneof(
        { weight: 1, arbitrary: fc.constant('all' as const) },
        {
          weight: 5,
          arbitrary: fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 6 })), {
            minLength: 1,
            maxLength: 12,
          }),
        },
      ),
      fate: fates,
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      did: fc.constant('lend' as const),
      holder: fc.constantFrom(0 as const, 1 as const),
      permits: fc.nat(20),
      spent: fc.double({ min: 0, max: 1, noNaN: true }),
      returns: fc.boolean(),
      twice: fc.boolean(),
      fate: fates,
    }),
  },
  { weight: 6, arbitrary: fc.record({ did: fc.constant('put back' as const) }) },
  { weight: 2, arbitrary: fc.record({ did: fc.constant('settle' as const), fate: fates }) },
  { weight: 1, arbitrary: fc.constant<Act>({ did: 'empty' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      did: fc.constant('step' as const),
      byMs: fc.integer({ min: -400, max: 400 }),
    }),
  },
);

const steps: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.oneof({ weight: 3, arbitrary: fc.nat(8) }, { weight: 1, arbitrary: fc.nat(90) }),
  region: fc.constantFrom(0 as const, 0 as const, 0 as const, 1 as const, 2 as const),
  act: acts,
});

/** @param rates how fast the regions' clocks go */
export function poolHistories(
  rates: fc.Arbitrary<number> = fc.constantFrom(1, 0.96, 1.05),
): fc.Arbitrary<PoolHistory> {
  return fc.record({
    limit: fc.constantFrom(200, 1000, 2000),
    burst: fc.constantFrom(40, 200),
    ttlMs: fc.constantFrom(100, 200),
    rates: fc.tuple(rates, rates, rates),
    steps: fc.array(steps, { minLength: 20, maxLength: 80 }),
  });
}
