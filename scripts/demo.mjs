/** `npm run demo`: sets up what is missing and runs the fleet demo. Arguments are passed on. */
import { join } from 'node:path';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const env = await setUp();
  const program = join(root, 'apps', 'fleet-demo', 'dist', 'main.mjs');
  const { code } = await run(process.execPath, [program, ...userArguments()], { env });
  return code;
});
