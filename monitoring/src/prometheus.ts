import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { start } from './program.js';

const SHIPPED = fileURLToPath(new URL('../prometheus', import.meta.url));

/** One series of an answer, at one instant. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** An instant in seconds, and the value as a text. */
  readonly value: readonly [number, string];
}

/** An alert that is pending or firing. */
export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
  readonly activeAt: string;
}

/** A Prometheus on loopback, with the rules of `monitoring/prometheus` and a folder of its own. */
export interface Prometheus {
  readonly url: string;
  /** What a query gives now. Throws what Prometheus says of one that it does not accept. */
  query(expr: string): Promise<readonly Series[]>;
  alerts(): Promise<readonly Alert[]>;
  close(): Promise<void>;
}

/**
 * @param targets of each job, as `host:port`
 * @param intervalS between scrapes, and between evaluations of rules
 */
export async function startPrometheus(
  targets: Readonly<Record<string, readonly string[]>>,
  intervalS: number,
): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'rl-prometheus-'));
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, await configFor(targets, intervalS));
  const address = `127.0.0.1:${await freePort()}`;
  const program = start('prometheus', [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ]);
  await program.line(/(ready to receive web requests)/);
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://${address}/api/v1/${path}`);
    const answer = (await response.json()) as { status: string; error?: string; data?: unknown };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  return {
    url: `http://${address}`,
    async query(expr) {
      const data = await get(`query?query=${encodeURIComponent(expr)}`);
      return (data as { result: Series[] }).result;
    },
    async alerts() {
      return ((await get('alerts')) as { alerts: Alert[] }).alerts;
    },
    async close() {
      await program.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The shipped configuration, with these targets in the place of what it discovers. */
async function configFor(
  targets: Readonly<Record<string, readonly string[]>>,
  intervalS: number,
): Promise<string> {
  const config = parse(await readFile(join(SHIPPED, 'prometheus.yml'), 'utf8'));
  const [{ dns_sd_configs: _, ...scrape }] = config.scrape_configs;
  const interval = `${intervalS}s`;
  return stringify({
    ...config,
    global: { scrape_interval: interval, evaluation_interval: interval },
    rule_files: config.rule_files.map((name: string) => join(SHIPPED, name)),
    scrape_configs: Object.entries(targets).map(([job, addresses]) => ({
      ...scrape,
      job_name: job,
      static_configs: [{ targets: addresses }],
    })),
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  const { port } = await new Promise<AddressInfo>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server.address() as AddressInfo));
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}
