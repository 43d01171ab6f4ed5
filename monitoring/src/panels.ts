/** What the dashboard shows: its rows, each a question, and their panels. */

/** As Grafana calls its units. */
export type Unit = 'percentunit' | 'reqps' | 's' | 'short' | 'ops';

export interface Query {
  /** In PromQL; `$job`, `$policy` and `$key_class` are the choices at the top. */
  readonly expr: string;
  readonly legend: string;
  /** False where there is data only for some: a store in memory, `durability`. Default true. */
  readonly always?: boolean;
}

export interface Panel {
  /** A question, or a plain statement. */
  readonly title: string;
  /** What it means and what to do about it. */
  readonly description: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** Areas on top of each other, as parts of a whole where `percent`. Default lines. */
  readonly stack?: 'normal' | 'percent';
  /** A red line: above it something is wrong. */
  readonly limit?: number;
  /** One number instead of a graph. */
  readonly stat?: true;
  /** In 24ths of the screen. Default 8. */
  readonly width?: number;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** The calls that were chosen. */
const CALLS = 'job=~"$job", policy=~"$policy", key_class=~"$key_class"';
const JOB = 'job=~"$job"';

function decisions(by: string, matchers = ''): string {
  const and = matchers && `, ${matchers}`;
  return `sum by (${by}) (rate(ratelimit_decisions_total{${CALLS}${and}}[$__rate_interval]))`;
}

const DENIED = 'outcome=~"denied|fallback_denied"';

function quantile(q: number, metric: string): string {
  return `histogram_quantile(${q}, sum by (job, le) (rate(${metric}_bucket{${JOB}}[$__rate_interval])))`;
}

function rate(metric: string, by = 'job'): string {
  return `sum by (${by}) (rate(${metric}{${JOB}}[$__rate_interval]))`;
}

export const ROWS: readonly Row[] = [
  {
    title: 'Are clients throttled?',
    panels: [
      {
        title: 'What share of calls is denied?',
        description:
          'Of all calls under the chosen policies, those that were answered 429, or 503 where a policy is closed and the store is away. Policies that only watch deny nothing.',
        unit: 'percentunit',
        stat: true,
        width: 4,
        queries: [{ expr: `${decisions('job', DENIED)} / ${decisions('job')}`, legend: '{{job}}' }],
      },
      {
        title: 'What became of calls?',
        description:
          'Decisions a second. A call under several policies counts once for each; where it was denied, only for those that denied it. fallback_: decided without the store. shadow_denied: went ahead, and would have been denied by a policy that only watches.',
        unit: 'reqps',
        stack: 'normal',
        width: 10,
        queries: [{ expr: decisions('outcome'), legend: '{{outcome}}' }],
      },
      {
        title: 'Which policy denies, and which key class?',
        description:
          'Share of the calls of each key class that its policy denied. Above the line for ten minutes it is the alert RateLimitManyDenied. Metrics never name a client: limiter.top() says whether it is one or many.',
        unit: 'percentunit',
        limit: 0.2,
        width: 10,
        queries: [
          {
            expr: `${decisions('policy, key_class', DENIED)} / ${decisions('policy, key_class')}`,
            legend: '{{policy}} / {{key_class}}',
          },
        ],
      },
      {
        title: 'What would policies that only watch deny?',
        description:
          'Calls a second that went ahead though a policy with shadow: true would have denied them. Look here before you enforce it.',
        unit: 'reqps',
        width: 12,
        queries: [
          {
            expr: decisions('policy, key_class', 'outcome="shadow_denied"'),
            legend: '{{policy}} / {{key_class}}',
          },
        ],
      },
      {
        title: 'Who sends the calls?',
        description: 'Decisions a second by policy and key class, denied or not.',
        unit: 'reqps',
        stack: 'normal',
        width: 12,
        queries: [{ expr: decisions('policy, key_class'), legend: '{{policy}} / {{key_class}}' }],
      },
    ],
  },
  {
    title: 'Where do decisions come from?',
    panels: [
      {
        title: 'Who decides?',
        description:
          'Shares of all decisions. store: Redis was asked. lease: by permits held in advance. memory: a denial that still holds, or a store in memory. fallback: without a store that should have answered; more than a trace of it is the alert RateLimitFallback.',
        unit: 'reqps',
        stack: 'percent',
        queries: [{ expr: decisions('origin'), legend: '{{origin}}' }],
      },
      {
        title: 'How many denials are remembered?',
        description:
          'Keys that each replica knows to be out of permits, so that further calls are denied without the store. Many: many clients are over their quota at once.',
        unit: 'short',
        queries: [{ expr: `ratelimit_remembered_denials{${JOB}}`, legend: '{{instance}}' }],
      },
      {
        title: 'How many checks go out together?',
        description:
          'Checks in one call to Redis. More calls at once make larger batches, and cost Redis less for each.',
        unit: 'short',
        queries: [0.5, 0.95].map((q) => ({
          expr: quantile(q, 'ratelimit_batch_size'),
          legend: `p${q * 100} {{job}}`,
        })),
      },
    ],
  },
  {
    title: 'How is the store?',
    panels: [
      {
        title: 'How long does the store take?',
        description:
          'Of each call that waited for the store and each claim in advance. The line is the default deadline: what takes longer is decided without the store.',
        unit: 's',
        limit: 0.005,
        queries: [0.5, 0.95, 0.99].map((q) => ({
          expr: quantile(q, 'ratelimit_store_latency_seconds'),
          legend: `p${q * 100} {{job}}`,
        })),
      },
      {
        title: 'Why does the store not answer?',
        description:
          'Failed questions a second by kind. timeout: not within the deadline. connection: none. unavailable: loading, or a Cluster that is down. read-only: a primary that was demoted. memory: maxmemory. permission: the rights of the user. While a store is lost these are its probes.',
        unit: 'ops',
        queries: [{ expr: rate('ratelimit_store_errors_total', 'kind'), legend: '{{kind}}' }],
      },
      {
        title: 'Is the store up for all replicas?',
        description:
          'Stores, or nodes of a Cluster, in each state, summed over replicas. lost: not asked, but for probes. returning: it answers, and is charged what was admitted without it.',
        unit: 'short',
        stack: 'normal',
        queries: [{ expr: `sum by (state) (ratelimit_store_state{${JOB}})`, legend: '{{state}}' }],
      },
    ],
  },
  {
    title: 'Does the fleet agree?',
    panels: [
      {
        title: 'Do replicas know how many they are?',
        description:
          'Among how many replicas each of them divides the quota while the store is away, and how many are scraped. Where they differ, shares are too small or too large: the alert RateLimitReplicaCountOff.',
        unit: 'short',
        queries: [
          { expr: `ratelimit_replicas{${JOB}}`, legend: 'as {{instance}} sees it' },
          { expr: `count by (job) (up{${JOB}} == 1)`, legend: 'scraped of {{job}}' },
        ],
      },
      {
        title: 'What is the store yet to be charged for?',
        description:
          'Buckets of which calls were admitted without the store. Rises while it is away, and falls to 0 within seconds of its return.',
        unit: 'short',
        queries: [{ expr: `sum by (job) (ratelimit_owed_buckets{${JOB}})`, legend: '{{job}}' }],
      },
      {
        title: 'What exceeds the quota, or may?',
        description:
          'Forgotten: permits a second that were admitted without the store and can never be charged. Unreplicated: answers a second told before Redis replicas had them; a failover gives those permits out again.',
        unit: 'ops',
        queries: [
          { expr: rate('ratelimit_forgotten_permits_total'), legend: 'forgotten {{job}}' },
          {
            expr: rate('ratelimit_unreplicated_answers_total'),
            legend: 'unreplicated {{job}}',
            always: false,
          },
        ],
      },
    ],
  },
  {
    title: 'Do leases pay?',
    panels: [
      {
        title: 'How often are permits claimed?',
        description: 'Questions a second to the store that asked for permits or told of them.',
        unit: 'ops',
        queries: [{ expr: rate('ratelimit_lease_claims_total'), legend: '{{job}}' }],
      },
      {
        title: 'What becomes of leased permits?',
        description:
          'Permits a second. Granted less returned and written off is what was spent. Many returned: leases are larger than the demand. Written off: counted as spent though nobody had them; more than a twentieth is the alert RateLimitLeasesWrittenOff.',
        unit: 'ops',
        queries: ['granted', 'returned', 'written_off'].map((what) => ({
          expr: rate(`ratelimit_lease_permits_${what}_total`),
          legend: `${what.replace('_', ' ')} {{job}}`,
        })),
      },
      {
        title: 'How many buckets are leased?',
        description:
          'Buckets that each replica keeps leases or demand of. 0 where no policy has lease: true, or no client sends some three calls a second to a replica.',
        unit: 'short',
        queries: [{ expr: `ratelimit_lease_buckets{${JOB}}`, legend: '{{instance}}' }],
      },
    ],
  },
  {
    title: 'Is there room in memory?',
    panels: [
      {
        title: 'How many buckets are in memory?',
        description: 'Of stores in memory, by replica. The most is maxKeys, 100,000 by default.',
        unit: 'short',
        width: 12,
        queries: [{ expr: `ratelimit_memory_keys{${JOB}}`, legend: '{{instance}}', always: false }],
      },
      {
        title: 'Are buckets forgotten for want of room?',
        description:
          'Buckets a second that a store in memory forgot before they were full: their clients find full ones. Any is the alert RateLimitMemoryEvictions.',
        unit: 'ops',
        width: 12,
        queries: [
          {
            expr: rate('ratelimit_memory_evictions_total', 'instance'),
            legend: '{{instance}}',
            always: false,
          },
        ],
      },
    ],
  },
];
