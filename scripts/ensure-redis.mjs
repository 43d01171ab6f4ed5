/**
 * Sees to it that the tests and the bench have a Redis: the one `findRedis` of packages/testkit
 * finds, or, as root on Debian or Ubuntu, one installed by apt. Run it by itself to only do that.
 */
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { APT_ENV, canInstall, installPackage } from './apt.mjs';
import { CommandFailed, run, runMain, runQuietly, step } from './run.mjs';
import { root, setUp } from './setup.mjs';

/** Call it after `setUp`. Ends with a `CommandFailed` that says what to do where nothing helps. */
export async function ensureRedis() {
  const testkit = join(root, 'packages', 'testkit', 'dist', 'index.mjs');
  const { findRedis } = await import(pathToFileURL(testkit).href);
  await step('redis', async () => {
    let found = await findRedis().catch((error) => error);
    // With a REDIS_URL the trouble is that URL, and another server is not what was asked for.
    if (found instanceof Error && !process.env.REDIS_URL && canInstall()) {
      await installServer();
      found = await findRedis().catch((error) => error);
    }
    if (found instanceof Error) throw new CommandFailed(found.message, { code: 1 });
    return { url: 'at REDIS_URL', binary: found.path, container: 'in a container' }[found.kind];
  });
}

/** Installs the program only: the service that comes with it is neither started nor enabled. */
async function installServer() {
  const ranBefore = await answersAtDefaultPort();
  await installPackage('redis-server');
  if (existsSync('/run/systemd/system')) {
    await runQuietly('systemctl', ['disable', '--now', 'redis-server'], { env: APT_ENV });
  }
  if (ranBefore || !(await answersAtDefaultPort())) return;
  await run('service', ['redis-server', 'stop'], { env: APT_ENV, quiet: true });
  if (await answersAtDefaultPort()) {
    const what = 'The installed redis-server was started as a service and could not be stopped.';
    throw new CommandFailed(what, { code: 1 });
  }
}

function answersAtDefaultPort() {
  return new Promise((resolve) => {
    const socket = connect(6379, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runMain(async () => {
    await setUp();
    await ensureRedis();
    return 0;
  });
}
