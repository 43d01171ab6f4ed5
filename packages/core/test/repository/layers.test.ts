import { describe, expect, it } from 'vitest';
import { findViolations } from '../../../../scripts/layers.mjs';

describe('the layer check', () => {
  it.each([
    ['core/src/algorithms/a.ts', "import { x } from '../policy/policy.js';"],
    ['core/src/store/redis/a.ts', "import type { X } from '../memory/b.js';"],
    ['core/src/http.ts', "export { Gate } from './http/gate.js';"],
    ['core/src/time/clock.ts', 'performance.now();'],
    ['express/src/index.ts', "import { Gate } from '@rl/core/http';"],
    ['koa/src/status-page.ts', "import { StatusPage } from '@rl/core/status';"],
    ['core/src/store/a.ts', '/* performance.now() is not read here */'],
  ])('accepts %s: %s', (path, text) => {
    expect(findViolations([[path, text]])).toEqual([]);
  });

  it.each([
    ['core/src/policy/a.ts', "import { x } from '../store/store.js';"],
    ['core/src/policy/a.ts', "import type { X } from '../key/partition-key.js';"],
    ['core/src/lease/a.ts', "export { x } from '../fallback/b.js';"],
    ['core/src/store/a.ts', "const x = await import('../limiter/limiter.js');"],
    ['core/src/store/redis/a.ts', "import { Redis } from 'ioredis';"],
    ['core/src/index.ts', "export { redisStore } from './store/redis/redis-store.js';"],
    ['core/src/elsewhere/a.ts', "import { x } from '../errors.js';"],
    ['core/src/store/a.ts', 'const now = Date.now();'],
    ['express/src/index.ts', "import { x } from '@rl/core/redis';"],
    ['fetch/src/index.ts', "import { x } from 'hono';"],
    ['core/src/metrics/a.ts', "import type { Limiter } from '../limiter/contract.js';"],
    ['core/src/status/a.ts', "import { Gate } from '../http/gate.js';"],
    ['core/src/publishing/a.ts', "import { register } from 'prom-client';"],
    ['otel/src/index.ts', "import { MeterProvider } from '@opentelemetry/sdk-metrics';"],
    ['prometheus/src/index.ts', "import { metrics } from '@opentelemetry/api';"],
    ['koa/src/index.ts', "import { x } from 'express';"],
    ['testkit/src/index.ts', "import { x } from '@rl/core';"],
  ])('refuses %s: %s', (path, text) => {
    expect(findViolations([[path, text]])).toHaveLength(1);
  });
});
