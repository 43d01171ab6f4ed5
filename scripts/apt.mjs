/** Debian packages, for what tests need and a machine does not have. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { CommandFailed, runQuietly } from './run.mjs';

/** The environment in which apt asks nothing. */
export const APT_ENV = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };

/** Root on a Debian or one of its kin. */
export function canInstall() {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false;
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(release);
}

/** Installs a package without what it only recommends, and starts no service that comes with it. */
export async function installPackage(name) {
  await runQuietly('apt-get', ['update'], { env: APT_ENV });
  const args = ['install', '-y', '--no-install-recommends', name];
  await withoutServiceStarts(() => runQuietly('apt-get', args, { env: APT_ENV }));
}

/** As `installPackage`; where it may not be installed it ends with a `CommandFailed` that says `missing`. */
export async function requirePackage(name, missing) {
  if (!canInstall()) throw new CommandFailed(missing, { code: 1 });
  await installPackage(name);
}

/** Debian's own way to forbid package scripts to start services: policy-rc.d answering 101. */
async function withoutServiceStarts(work) {
  const policy = '/usr/sbin/policy-rc.d';
  if (existsSync(policy)) return work();
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return await work();
  } finally {
    rmSync(policy, { force: true });
  }
}
