/** Sees to it that there is a Chromium: on Debian or Ubuntu, as root, apt installs it. */
import { requirePackage } from './apt.mjs';
import { run, step } from './run.mjs';

/**
 * Ends with a `CommandFailed` that says what to do where nothing helps.
 * @returns {Promise<string>} its path
 */
export async function ensureChromium() {
  let path = await find();
  await step('chromium', async () => {
    if (path) return path;
    await requirePackage(
      'chromium',
      'chromium is not on the PATH: install it (on Debian: apt-get install chromium), or say by RL_CHROMIUM where one is.',
    );
    path = await find();
    return `${path}, installed`;
  });
  return path;
}

/** Undefined where there is none. */
async function find() {
  if (process.env.RL_CHROMIUM) return process.env.RL_CHROMIUM;
  const result = await run('sh', ['-c', 'command -v chromium'], { quiet: true });
  return result.code === 0 ? result.output.trim() : undefined;
}
