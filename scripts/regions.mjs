/** `npm run regions`: sets up what is missing and shares one quota between regions, in each of the ways there are. */
import { join } from 'node:path';
import { ensureRedis } from './ensure-redis.mjs';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const env = await setUp();
  await ensureRedis();
  const program = join(root, 'apps', 'bench', 'dist', 'regions.mjs');
  return (await run(process.execPath, [program, ...userArguments()], { env })).code;
});
