import { afterEach } from 'vitest';
import type { AnyOptions, AppPlan, Framework, Listen, RunningApp, Target } from './framework.js';
import { PATIENT } from './patient.js';

/**
 * Call it in a `describe`. What it returns starts an app, which ends with the test. A policy on a
 * store waits for that patiently, unless it says what it does instead.
 */
export function useApp(framework: Framework): (plan: AppPlan, listen?: Listen) => Promise<Target> {
  const running: RunningApp[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((app) => app.close()));
  });
  return async (plan, listen = 'port') => {
    const limiters = plan.limiters.map(patient);
    const routes = plan.routes?.map((route) => ({ ...route, limiter: patient(route.limiter) }));
    const app = await framework.start({ ...plan, limiters, routes }, listen);
    running.push(app);
    return app.target;
  };
}

function patient(options: AnyOptions): AnyOptions {
  if (options.store === undefined || 'fallback' in options) return options;
  return { ...options, fallback: PATIENT };
}
