/** `npm run bench`: sets up what is missing and runs the bench. Arguments are passed on. */
import { join } from 'node:path';
import { ensureRedis } from './ensure-redis.mjs';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const env = await setUp();
  await ensureRedis();
  const program = join(root, 'apps', 'bench', 'dist', 'main.mjs');
  const args = ['--expose-gc', program, ...userArguments()];
  const { code } = await run(process.execPath, args, { env });
  return code;
});
