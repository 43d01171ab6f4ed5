import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Limiter } from '@rl/core';
import { statusPage } from '@rl/fetch';
import { publishMetrics } from '@rl/prometheus';
import { Registry } from 'prom-client';
import { customerNamed } from './customers.js';
import { type ServicePolicy, tierOf } from './limiter.js';

/** What operators ask one replica. */
export interface Operations {
  readonly url: string;
  close(): Promise<void>;
}

/** Where the status page is. */
const PAGE = '/ratelimit';

/** Answers a path, or says with undefined that it has no answer. */
type Answer = (query: URLSearchParams) => Promise<{ type: string; body: string } | undefined>;

/**
 * Serves what operators and Prometheus ask, on a port of its own, which clients cannot reach:
 * `/metrics`; `/ratelimit`, the status page; `/top`, who is denied most and who asks most;
 * `/explain?tier=ann`, how it stands with a key, and why. A real service asks who it is that asks, too:
 * keys are clients.
 *
 * @param host the address it listens on
 * @param port 0: a free one
 */
export async function serveOperations(
  limiter: Limiter<ServicePolicy>,
  host: string,
  port: number,
): Promise<Operations> {
  const registry = new Registry();
  const unpublish = publishMetrics(limiter, { registry });
  const answers = new Map<string, Answer>([
    ['/metrics', async () => ({ type: registry.contentType, body: await registry.metrics() })],
    ['/top', async () => json(limiter.top())],
    ['/explain', async (query) => explain(limiter, query)],
  ]);
  const page = statusPage({
    limiters: limiter,
    // Whoever reaches this port is an operator.
    allow: () => true,
    policies: (_, key) => tierOf(customerNamed(key)),
    showKeys: true,
    path: PAGE,
  });
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://localhost');
    if (pathname === PAGE || pathname.startsWith(`${PAGE}/`)) void show(page, req, res);
    else void answer(answers, req, res);
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    async close() {
      unpublish();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(
  answers: ReadonlyMap<string, Answer>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://localhost');
  try {
    const found = await answers.get(pathname)?.(searchParams);
    if (found === undefined) res.writeHead(404).end();
    else res.writeHead(200, { 'content-type': found.type }).end(found.body);
  } catch (error) {
    res.writeHead(500).end(String(error));
  }
}

async function show(
  page: (request: Request) => Promise<Response>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  try {
    const headers = new Headers();
    for (const [name, value] of Object.entries(req.headers)) headers.set(name, String(value));
    const { method = 'GET', url = '/' } = req;
    const asked = new Request(new URL(url, 'http://localhost'), { method, headers });
    const shown = await page(asked);
    res.writeHead(shown.status, Object.fromEntries(shown.headers)).end(await shown.text());
  } catch (error) {
    res.writeHead(500).end(String(error));
  }
}

async function explain(limiter: Limiter<ServicePolicy>, query: URLSearchParams) {
  const [[policy, key] = []] = query;
  if (policy === undefined || key === undefined || !limiter.policies.has(policy)) return undefined;
  const keys = { [policy]: key } as Record<ServicePolicy, string>;
  return json(await limiter.explain(keys, { policies: tierOf(customerNamed(key)) }));
}

function json(value: unknown): { type: string; body: string } {
  return { type: 'application/json', body: `${JSON.stringify(value, undefined, 2)}\n` };
}
