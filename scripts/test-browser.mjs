/**
 * `npm run test:browser`: the status page in a real Chromium. `--update` takes the pictures of the docs
 * anew; other arguments are passed on to vitest.
 */
import { join } from 'node:path';
import { ensureChromium } from './ensure-chromium.mjs';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const env = { ...(await setUp()), RL_CHROMIUM: await ensureChromium() };
  const args = userArguments();
  if (args.includes('--update')) env.RL_UPDATE_PICTURES = '1';
  const vitest = join(root, 'node_modules', '.bin', 'vitest');
  const config = join(root, 'apps', 'browser-tests', 'vitest.config.ts');
  const passed = args.filter((arg) => arg !== '--update');
  return (await run(vitest, ['run', '--config', config, ...passed], { cwd: root, env })).code;
});
