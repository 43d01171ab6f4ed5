/**
 * Brings a fresh clone to the point where its programs run: the pinned pnpm, the dependencies, the
 * build. Needs Node and npm, nothing else. What has been done and still holds is not done again.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandFailed, run, runQuietly, step } from './run.mjs';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url));

const STAMP = join(root, 'node_modules', '.setup.json');

/**
 * Installs what the lockfile says and builds every package. Returns the environment in which to
 * run programs of this repository: one with the pinned pnpm on its PATH.
 */
export async function setUp() {
  const env = {
    ...process.env,
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
  };
  const stamp = readStamp();
  await step('pnpm', async () => {
    const folder = await pinnedPnpmFolder(env, stamp.pnpmFolder);
    stamp.pnpmFolder = folder;
    if (folder !== undefined) env.PATH = `${folder}${delimiter}${env.PATH ?? ''}`;
    return pinnedVersion();
  });
  await step('install', async () => {
    const wanted = hashOfManifests();
    const upToDate = stamp.manifests === wanted && everyModulesFolderExists();
    if (!upToDate) await runQuietly('pnpm', ['install', '--frozen-lockfile'], { cwd: root, env });
    writeFileSync(STAMP, JSON.stringify({ ...stamp, manifests: wanted }));
    return upToDate ? 'up to date' : undefined;
  });
  await step('build', async () => {
    const turbo = join(root, 'node_modules', '.bin', 'turbo');
    const output = await runQuietly(turbo, ['run', 'build'], { cwd: root, env });
    return output.includes('FULL TURBO') ? 'up to date' : undefined;
  });
  return env;
}

function pinnedVersion() {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const version = /^pnpm@(\d+\.\d+\.\d+)/.exec(packageManager ?? '')?.[1];
  if (version === undefined) {
    throw new Error(`package.json: packageManager must be pnpm@<version>, not ${packageManager}`);
  }
  return version;
}

/**
 * The folder to put on PATH so that `pnpm` is the pinned one, or undefined where it is already. It
 * has to be on PATH, and not merely called through npx, because turbo calls it for each package.
 */
async function pinnedPnpmFolder(env, known) {
  const pinned = pinnedVersion();
  if ((await versionOf('pnpm', env)) === pinned) return undefined;
  if (known && (await versionOf(join(known, 'pnpm'), env)) === pinned) return known;
  const args = ['--yes', `--package=pnpm@${pinned}`, '-c', 'command -v pnpm'];
  const output = await runQuietly('npx', args, { cwd: root, env });
  const path = output.trim().split('\n').at(-1);
  if ((await versionOf(path, env)) === pinned) return dirname(path);
  throw new CommandFailed(`npx brought no pnpm ${pinned}`, { code: 1, output });
}

/**
 * The version a pnpm has by itself: asked outside the repository, where none of another version
 * stands in for the pin, and without a network, so that a stub of corepack does not fetch one.
 */
async function versionOf(program, env) {
  const answer = await run(program, ['--version'], {
    cwd: tmpdir(),
    env: { ...env, COREPACK_ENABLE_NETWORK: '0' },
    quiet: true,
  }).catch(() => undefined);
  return answer?.code === 0 ? answer.output.trim() : undefined;
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, 'utf8'));
  } catch {
    return {};
  }
}

/** The folders of the workspace: packages/*, apps/*, monitoring. */
function members() {
  const grouped = ['packages', 'apps'].flatMap((group) => {
    const folder = join(root, group);
    if (!existsSync(folder)) return [];
    return readdirSync(folder).map((name) => join(folder, name));
  });
  return [...grouped, join(root, 'monitoring')].filter((member) =>
    existsSync(join(member, 'package.json')),
  );
}

/** Changes with anything that decides what an install brings. */
function hashOfManifests() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  const manifests = [root, ...members()].map((folder) => join(folder, 'package.json'));
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) manifests.push(join(root, file));
  for (const file of manifests) hash.update(`${file}\n`).update(readFileSync(file));
  return hash.digest('hex');
}

/** False where somebody has removed a node_modules since. */
function everyModulesFolderExists() {
  return members().every((member) => {
    const manifest = JSON.parse(readFileSync(join(member, 'package.json'), 'utf8'));
    const needed = { ...manifest.dependencies, ...manifest.devDependencies };
    return Object.keys(needed).length === 0 || existsSync(join(member, 'node_modules'));
  });
}
