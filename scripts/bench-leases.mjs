/** `npm run bench:leases`: sets up what is missing and simulates fleets. Arguments are passed on. */
import { join } from 'node:path';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const env = await setUp();
  const program = join(root, 'apps', 'bench', 'dist', 'fleet-simulation.mjs');
  return (await run(process.execPath, [program, ...userArguments()], { env })).code;
});
