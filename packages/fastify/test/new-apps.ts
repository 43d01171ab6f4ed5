import type { Target } from '@rl/adapter-suite';
import { type FastifyInstance, type FastifyServerOptions, fastify } from 'fastify';
import { afterEach } from 'vitest';
import { serveFastify } from './frameworks.js';

/** Call it in a file: the apps that it makes end with the test. */
export function useApps(): (options?: FastifyServerOptions) => FastifyInstance {
  const running: FastifyInstance[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((app) => app.close()));
  });
  return (options = {}) => {
    const app = fastify({ forceCloseConnections: true, ...options });
    running.push(app);
    return app;
  };
}

export async function targetOf(app: FastifyInstance): Promise<Target> {
  return (await serveFastify(app)).target;
}

/** The statuses of `count` requests, one after the other. */
export async function injectInTurn(
  app: FastifyInstance,
  count: number,
  url = '/',
  method: 'GET' | 'HEAD' | 'POST' = 'GET',
): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) statuses.push((await app.inject({ method, url })).statusCode);
  return statuses;
}

/** What is left under each policy that a response tells of: `{ default: 4 }`. */
export function leftIn(headers: Readonly<Record<string, unknown>>): Record<string, number> {
  const members = String(headers.ratelimit ?? '').matchAll(/"([^"]+)";r=(\d+)/g);
  return Object.fromEntries([...members].map(([, name, left]) => [name, Number(left)]));
}
