/**
 * Sees to it that `prometheus` and `promtool` are on the PATH: on Debian or Ubuntu, as root, apt
 * installs them, without their service.
 */
import { existsSync } from 'node:fs';
import { APT_ENV, requirePackage } from './apt.mjs';
import { run, runQuietly, step } from './run.mjs';

/** Ends with a `CommandFailed` that says what to do where nothing helps. */
export async function ensurePrometheus() {
  await step('prometheus', async () => {
    const found = (await version('prometheus')) && (await version('promtool'));
    if (found) return found;
    await requirePackage(
      'prometheus',
      'prometheus and promtool are not on the PATH: install them (on Debian: apt-get install prometheus).',
    );
    if (existsSync('/run/systemd/system')) {
      await runQuietly('systemctl', ['disable', '--now', 'prometheus'], { env: APT_ENV });
    }
    return `${await version('prometheus')}, installed`;
  });
}

/** Undefined where it cannot be run. */
async function version(program) {
  const result = await run(program, ['--version'], { quiet: true }).catch(() => undefined);
  return result?.code === 0 ? /version (\S+)/.exec(result.output)?.[1] : undefined;
}
