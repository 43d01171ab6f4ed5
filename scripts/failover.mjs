/** `npm run failover`: sets up what is missing and kills primaries of Redis under load. */
import { join } from 'node:path';
import { ensureRedis } from './ensure-redis.mjs';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const env = await setUp();
  await ensureRedis();
  const program = join(root, 'apps', 'bench', 'dist', 'failover.mjs');
  return (await run(process.execPath, [program, ...userArguments()], { env })).code;
});
