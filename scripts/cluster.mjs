/** `npm run cluster`: sets up what is missing and lets replicas share a Redis Cluster that changes. */
import { join } from 'node:path';
import { ensureRedis } from './ensure-redis.mjs';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const env = await setUp();
  await ensureRedis();
  const program = join(root, 'apps', 'bench', 'dist', 'cluster.mjs');
  return (await run(process.execPath, [program, ...userArguments()], { env })).code;
});
