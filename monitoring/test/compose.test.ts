import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inMonitoring, inRepository, yamlOf } from './folder.js';

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test: unknown };
  readonly depends_on?: Readonly<Record<string, unknown>>;
}

const FILE = 'docker-compose.yml';
const { services } = yamlOf<{ services: Record<string, Service> }>(inMonitoring(FILE));
const ALL = Object.entries(services);

/** Host path, from the folder of the file, and path in the container. */
function mountsOf(name: string): [from: string, to: string][] {
  const volumes = services[name]?.volumes ?? [];
  return volumes.map((volume) => volume.split(':').slice(0, 2) as [string, string]);
}

test('it has Redis, replicas, Prometheus and Grafana', () => {
  expect(Object.keys(services)).toEqual(['redis', 'replica', 'balancer', 'prometheus', 'grafana']);
});

test('each file it mounts or builds exists', () => {
  for (const [name, { build }] of ALL) {
    for (const [from] of mountsOf(name)) expect(existsSync(inMonitoring(from)), from).toBe(true);
    if (build === undefined) continue;
    expect(existsSync(inMonitoring(`${build.context}/${build.dockerfile}`))).toBe(true);
  }
});

test('images are pinned, and all services say whether they are well', () => {
  for (const [name, { image, build, healthcheck }] of ALL) {
    if (build === undefined) expect(image, name).toMatch(/:v?\d+\.\d+\.\d+(-\w+)?$/);
    expect(healthcheck?.test, name).toBeDefined();
  }
});

test('nothing is reached from other machines, and nothing is secret', () => {
  for (const [name, { ports = [] }] of ALL) {
    for (const port of ports) expect(port, name).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  }
  expect(readFileSync(inMonitoring(FILE), 'utf8')).not.toMatch(/passw|secret|token|api_key/i);
});

test('services wait for others that exist', () => {
  for (const [name, { depends_on = {} }] of ALL) {
    for (const other of Object.keys(depends_on)) expect(services, name).toHaveProperty(other);
  }
});

test('Prometheus finds its rules, and Grafana its dashboard, where they are mounted', () => {
  const [config] = mountsOf('prometheus');
  expect(config).toEqual(['./prometheus', '/etc/prometheus']);
  const mounts = new Map(mountsOf('grafana').map(([from, to]) => [to, from]));
  expect(mounts.get('/etc/grafana/provisioning')).toBe('./grafana/provisioning');
  const provider = yamlOf<{ providers: { options: { path: string } }[] }>(
    inMonitoring('grafana/provisioning/dashboards/rate-limiting.yml'),
  ).providers[0];
  const folder = mounts.get(provider?.options.path ?? '') ?? '';
  expect(existsSync(inMonitoring(`${folder}/rate-limiting.json`))).toBe(true);
});

test('the image of a replica has what its build copies', () => {
  const dockerfile = readFileSync(inMonitoring('replica.Dockerfile'), 'utf8');
  for (const [, image] of dockerfile.matchAll(/^FROM (\S+)/gm)) {
    expect(image).toMatch(/:\d+\.\d+\.\d+-/);
  }
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = '']) =>
    from.split(' '),
  );
  expect(copied.length).toBeGreaterThan(0);
  for (const path of copied) expect(existsSync(inRepository(path)), path).toBe(true);
});
