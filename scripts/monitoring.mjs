/** `npm run monitoring`: sets up what is missing and runs the tour of the monitoring. Arguments are passed on. */
import { join } from 'node:path';
import { ensurePrometheus } from './ensure-prometheus.mjs';
import { ensureRedis } from './ensure-redis.mjs';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const env = await setUp();
  await ensureRedis();
  await ensurePrometheus();
  const program = join(root, 'monitoring', 'dist', 'tour.mjs');
  return (await run(process.execPath, [program, ...userArguments()], { env })).code;
});
