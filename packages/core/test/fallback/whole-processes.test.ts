import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startRedis } from '@rl/testkit';
import { describe, expect, it } from 'vitest';
import { closedPort } from '../support/ports.js';
import { runFixture } from '../support/run-fixture.js';

interface Report {
  readonly code: number;
  readonly unhandled: readonly string[];
}

interface Silence extends Report {
  readonly origins: Record<string, number>;
  readonly grown: number;
  readonly store: string;
  readonly lost: number;
}

describe('O-05 a Redis that accepts and never answers', () => {
  it.each(['redis', 'unready', 'cluster'])('to a client of the kind %s', async (kind) => {
    const { grown, ...report } = await runFixture<Silence>('silent-redis.mjs', [kind]);
    expect(report).toEqual({
      code: 0,
      origins: { 'fallback closed denied': 20_000 },
      store: 'lost',
      lost: 1,
      unhandled: [],
    });
    expect(grown).toBeLessThan(1_000_000);
  });
});

interface Start extends Report {
  readonly first: readonly string[];
  readonly lost: string;
  readonly origin: string;
  readonly back: boolean;
}

it('O-06 an app that starts while Redis is down decides without it, and picks it up', async () => {
  const path = fileURLToPath(new URL('../fixtures/start-without-redis.mjs', import.meta.url));
  const port = await closedPort();
  const app = spawn(process.execPath, [path, `${port}`]);
  const printed = text(app.stdout);
  const exited = once(app, 'exit');
  await Promise.race([once(app.stderr, 'data'), exited]);
  const redis = await startRedis({}, async () => port);
  await exited;
  await redis.close();
  expect(JSON.parse(await printed) as Start).toEqual({
    code: 0,
    first: ['fallback'],
    lost: 'lost',
    origin: 'store',
    back: true,
    unhandled: [],
  });
});
