import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The folder that holds the packages. */
const PACKAGES = fileURLToPath(new URL('../../..', import.meta.url));

/** What is read of a package.json. */
export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Every published package as its users get it, unpacked. */
export interface Packed {
  /** Holds all that was made; the caller removes it. */
  readonly root: string;
  /** By name: the folder it was unpacked to and its manifest there. */
  readonly packages: ReadonlyMap<string, { readonly folder: string; readonly manifest: Manifest }>;
}

/** Packs what the build has left in the `dist` folders. */
export async function packAll(): Promise<Packed> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'packed-')));
  const names = await publishedFolders();
  // In one run: pnpm takes longer to start than to pack.
  const filters = names.map((name) => `--filter=./packages/${name}`);
  const args = ['--recursive', ...filters, 'pack', '--out', join(root, '%s.tgz')];
  await run('pnpm', args, { cwd: join(PACKAGES, '..') });
  const packages = new Map<string, { folder: string; manifest: Manifest }>();
  for (const name of names) {
    const folder = join(root, 'unpacked', name);
    await mkdir(folder, { recursive: true });
    const tarball = join(root, `rl-${name}.tgz`);
    await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder]);
    const manifest = await manifestOf(folder);
    packages.set(manifest.name, { folder, manifest });
  }
  return { root, packages };
}

/** Those of published packages, each of them built. */
async function publishedFolders(): Promise<string[]> {
  const published: string[] = [];
  for (const name of await readdir(PACKAGES)) {
    const source = join(PACKAGES, name);
    const { private: unpublished, exports } = await manifestOf(source);
    if (unpublished) continue;
    if (!(await readdir(source)).includes('dist')) {
      throw new Error(
        `packages/${name} is not built, or lacks ${Object.keys(exports)}: npm run build`,
      );
    }
    published.push(name);
  }
  return published;
}

/** Where a dependency of the consumer is taken from: the package of ours that has it installed. */
export type Links = Readonly<Record<string, string>>;

/** What comes along with ours by itself, or is no choice of the app's. */
export const OWN_DEPENDENCIES: Links = {
  'fastify-plugin': 'fastify/fastify-plugin',
  // Without these there is nobody to publish to.
  '@opentelemetry/api': 'otel/@opentelemetry/api',
  'prom-client': 'prometheus/prom-client',
};

/**
 * A project in a folder of its own that has installed `names` of ours and `links` of others, and
 * nothing else: each link is `<folder of ours>/<name in its node_modules>`.
 */
export async function makeConsumer(
  packed: Packed,
  title: string,
  names: Iterable<string>,
  links: Links = {},
): Promise<string> {
  const folder = join(packed.root, title);
  const modules = join(folder, 'node_modules');
  for (const name of names) {
    const from = packed.packages.get(name);
    if (from === undefined) throw new Error(`${name} is not a published package`);
    await cp(from.folder, join(modules, name), { recursive: true });
  }
  for (const [name, from] of Object.entries(links)) {
    const [owner = '', ...rest] = from.split('/');
    const target = await realpath(join(PACKAGES, owner, 'node_modules', ...rest));
    const link = join(modules, name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(target, link);
  }
  return folder;
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
}
