/**
 * `npm run test:monitoring`: whether the alerts, the dashboard and the compose file hold, by promtool and
 * against a real Prometheus that scrapes real replicas. Arguments are passed on to vitest.
 */
import { join } from 'node:path';
import { ensurePrometheus } from './ensure-prometheus.mjs';
import { ensureRedis } from './ensure-redis.mjs';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const env = await setUp();
  await ensureRedis();
  await ensurePrometheus();
  const vitest = join(root, 'node_modules', '.bin', 'vitest');
  const config = join(root, 'monitoring', 'vitest.config.ts');
  return (await run(vitest, ['run', '--config', config, ...userArguments()], { cwd: root, env }))
    .code;
});
