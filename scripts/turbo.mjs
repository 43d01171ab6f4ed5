/**
 * `npm run build`, `npm run typecheck`: a task of turbo in all packages, with the pinned pnpm that
 * turbo calls for each, after whatever set-up is missing.
 */
import { join } from 'node:path';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const env = await setUp();
  const turbo = join(root, 'node_modules', '.bin', 'turbo');
  const args = ['run', ...userArguments(), '--output-logs=errors-only'];
  return (await run(turbo, args, { cwd: root, env })).code;
});
