/**
 * Three replicas of the example on a Redis of their own, with clients, and a Prometheus that scrapes them.
 *
 * Without arguments it runs until Ctrl-C, to be looked at. With `--tour` it prints docs/operating.md's
 * walk-through, commands and what they gave: a client over its quota, then a Redis that is silent. That
 * takes 15 minutes, as alerts wait; `--minutes 1` waits less, and shows alerts that are pending.
 */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { type Fleet, startFleet } from './fleet.js';
import { type Load, startLoad, TENANTS } from './load.js';
import { type Prometheus, startPrometheus } from './prometheus.js';

const SCRAPE_S = 5;
const MINUTE_MS = 60_000;
/** For how long Redis is silent: RateLimitStoreLost waits for a minute. */
const OUTAGE_MS = 80_000;
/** Until replicas have found a Redis that is back, and were scraped. */
const RETURN_MS = 12_000;

const THROTTLED = [
  `curl -s $PROMETHEUS/api/v1/alerts | jq -r '.data.alerts[] | "\\(.state): \\(.labels.alertname), \\(.annotations.summary)"'`,
  `promtool query instant $PROMETHEUS 'job:ratelimit_denied:ratio_rate5m > 0'`,
  `promtool query instant $PROMETHEUS 'sum by (outcome, origin) (job:ratelimit_decisions:rate5m{policy="tier", key_class="free"}) > 0'`,
  `for replica in $REPLICAS; do curl -s $replica/top | jq -c '.[] | select(.policy == "tier") | .denied'; done`,
  `curl -s -H 'rl-policy: tier' -H 'rl-key: ann' $REPLICA/ratelimit/explain | jq -r .answer`,
  `curl -s -H 'rl-policy: tier' -H 'rl-key: bob' $REPLICA/ratelimit/explain | jq -r .answer`,
  `curl -s "$REPLICA/explain?tier=ann" | jq -c '.each[0] | .policy, {fits, fitsAfterMs, level}, .denials.last[0]'`,
  `curl -si -H 'x-api-key: key-of-ann' $SERVICE | grep -E '^(HTTP|Retry-After|RateLimit)'`,
];
const CUT = [
  `curl -s $PROMETHEUS/api/v1/alerts | jq -r '.data.alerts[] | "\\(.state): \\(.labels.alertname), \\(.annotations.summary)"'`,
  `promtool query instant $PROMETHEUS 'sum by (state) (ratelimit_store_state)'`,
  `promtool query instant $PROMETHEUS 'sum by (outcome) (rate(ratelimit_decisions_total[1m])) > 0'`,
  `promtool query instant $PROMETHEUS 'sum by (kind) (rate(ratelimit_store_errors_total[1m])) > 0'`,
  `promtool query instant $PROMETHEUS 'sum(ratelimit_owed_buckets)'`,
  `promtool query instant $PROMETHEUS 'ratelimit_replicas'`,
];
const BACK = [
  `promtool query instant $PROMETHEUS 'sum by (state) (ratelimit_store_state)'`,
  `promtool query instant $PROMETHEUS 'sum(ratelimit_owed_buckets)'`,
  `promtool query instant $PROMETHEUS 'sum(ratelimit_forgotten_permits_total)'`,
];

const { values } = parseArgs({
  options: {
    tour: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '13' },
  },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new RangeError(`--minutes must be above 0, got ${values.minutes}`);

const fleet = await startFleet(3);
const prometheus = await startPrometheus(
  { api: fleet.replicas.map(({ operations }) => new URL(operations).host) },
  SCRAPE_S,
);
const urls = fleet.replicas.map(({ url }) => url);
const load = startLoad(urls, TENANTS);
const names = namesOf(fleet, prometheus);
for (const [name, value] of Object.entries(names)) console.log(`${name}='${value}'`);
if (values.tour) {
  await tour();
  await end();
} else {
  console.log('ann asks far more than her quota. Ctrl-C ends it.');
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
}

async function tour(): Promise<void> {
  await sleep(minutes * MINUTE_MS);
  heading(`a client over its quota, after ${values.minutes} minutes`);
  showAnswers(load);
  for (const command of THROTTLED) await show(command);
  await fleet.redis.pause();
  await sleep(OUTAGE_MS);
  heading(`Redis has been silent for ${OUTAGE_MS / 1000} s`);
  showAnswers(load);
  for (const command of CUT) await show(command);
  await fleet.redis.resume();
  await sleep(RETURN_MS);
  heading(`${RETURN_MS / 1000} s after its return`);
  for (const command of BACK) await show(command);
}

async function end(): Promise<void> {
  await load.stop();
  await prometheus.close();
  await fleet.close();
}

/** What the commands call what was started. */
function namesOf({ replicas }: Fleet, { url }: Prometheus): Record<string, string> {
  const operations = replicas.map((replica) => replica.operations);
  return {
    PROMETHEUS: url,
    SERVICE: replicas[0]?.url ?? '',
    REPLICA: operations[0] ?? '',
    REPLICAS: operations.join(' '),
  };
}

function heading(text: string): void {
  console.log(`\n== ${text}\n`);
}

function showAnswers(clients: Load): void {
  for (const [name, statuses] of Object.entries(clients.taken())) {
    console.log(`# answers to ${name}: ${JSON.stringify(statuses)}`);
  }
}

/** Runs a command as a reader would, and prints it with what it gave. */
async function show(command: string): Promise<void> {
  const env = { ...process.env, ...names };
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env });
  console.log(`$ ${command}\n${stdout.trimEnd()}`);
}
