/**
 * `node scripts/tool.mjs <program> [arguments]`: runs a program of the dependencies, after whatever
 * set-up is missing, with the pinned pnpm on the PATH, which turbo calls for each package.
 */
import { join } from 'node:path';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const [program, ...args] = userArguments();
  const env = await setUp();
  return (await run(join(root, 'node_modules', '.bin', program), args, { cwd: root, env })).code;
});
