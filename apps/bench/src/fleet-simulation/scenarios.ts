import type { Quota } from './exact-bucket.js';

/** How long demand stays so. */
export interface Stretch {
  readonly forMs: number;
  readonly factor: number;
}

/** A fleet, what it enforces, and who asks it. */
export interface FleetScenario extends Quota {
  /** As `--scenario` takes it. */
  readonly name: string;
  /** In plain words, what it is about; several scenarios may have the same. */
  readonly title: string;
  /** In plain words, what sets it apart from others and from the base. */
  readonly detail: string;
  readonly replicas: number;
  /** How many there are from half way on. */
  readonly replicasLater: number;
  /** Requests on average ÷ quota. They come each by itself (Poisson). */
  readonly demand: number;
  /** Demand as time goes, over and over, in multiples of the average. */
  readonly swing: readonly Stretch[];
  /** 0: replicas are asked equally often; else the i-th in proportion to 1 ÷ i ^ skew (Zipf). */
  readonly skew: number;
  /** Replicas that lose all they know at an instant, with what is under way to them. */
  readonly crashesPerSecond: number;
  /** On average: each way takes half of it, a quarter more or less. */
  readonly roundTripMs: number;
  readonly durationMs: number;
  /** Permits that the usual leasing claims at once. */
  readonly usualBatch: number;
}

const STEADY: readonly Stretch[] = [{ forMs: 1000, factor: 1 }];

/** What most scenarios have in common. */
export const BASE: Omit<FleetScenario, 'name' | 'title' | 'detail'> = {
  limitPerSecond: 1000,
  burst: 1000,
  replicas: 20,
  replicasLater: 20,
  demand: 2,
  swing: STEADY,
  skew: 0,
  crashesPerSecond: 0,
  roundTripMs: 2,
  durationMs: 10_000,
  usualBatch: 10,
};

/**
 * Two seconds of four times the quota, then six of a trickle: enough for the usual leases to be
 * renewed, and so to be there beside a full bucket when the next burst comes.
 */
const BURSTS = {
  ...BASE,
  demand: 1,
  swing: [
    { forMs: 2000, factor: 3.955 },
    { forMs: 6000, factor: 0.015 },
  ],
  usualBatch: 50,
  durationMs: 24_000,
};

/** In the order of the report. */
export const SCENARIOS: readonly FleetScenario[] = [
  { ...BASE, name: 'even-0.8x', title: 'even load', detail: '0.8 × the quota', demand: 0.8 },
  { ...BASE, name: 'even-2x', title: 'even load', detail: '2 × the quota' },
  { ...BASE, name: 'even-10x', title: 'even load', detail: '10 × the quota', demand: 10 },
  { ...BURSTS, name: 'bursts', title: 'bursts', detail: '4 × the quota, 2 s of every 8 s' },
  {
    ...BURSTS,
    name: 'bursts-20ms',
    title: 'bursts',
    detail: 'the same, round trip 20 ms',
    roundTripMs: 20,
  },
  {
    ...BASE,
    name: 'skewed-2x',
    title: 'uneven load',
    detail: '2 × the quota, Zipf 1.2',
    skew: 1.2,
    usualBatch: 50,
  },
  {
    ...BASE,
    name: 'quota-100k',
    title: 'quota and burst 100,000',
    detail: '1.5 × the quota, 50 replicas',
    limitPerSecond: 100_000,
    burst: 100_000,
    replicas: 50,
    replicasLater: 50,
    demand: 1.5,
    durationMs: 15_000,
  },
  {
    ...BASE,
    name: 'crashes',
    title: '5 crashes a second',
    detail: '2 × the quota',
    crashesPerSecond: 5,
  },
  { ...BASE, name: 'burst-50', title: 'burst 50', detail: '2 × the quota', burst: 50 },
  {
    ...BASE,
    name: 'burst-100-at-50',
    title: 'quota 50/s, burst 100',
    detail: '2 × the quota',
    limitPerSecond: 50,
    burst: 100,
  },
  {
    ...BASE,
    name: 'scale-out',
    title: 'scale-out',
    detail: '2 × the quota, 20 then 40 replicas',
    replicasLater: 40,
  },
];
