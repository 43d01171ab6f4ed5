import { afterEach } from 'vitest';
import type { AppPlan, Framework, Listen, RunningApp, Target } from './framework.js';

/** Call it in a `describe`. What it returns starts an app, which ends with the test. */
export function useApp(framework: Framework): (plan: AppPlan, listen?: Listen) => Promise<Target> {
  const running: RunningApp[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((app) => app.close()));
  });
  return async (plan, listen = 'port') => {
    const app = await framework.start(plan, listen);
    running.push(app);
    return app.target;
  };
}
