/**
 * Looks at every published package as npm would pack it, through publint and through "are the types
 * wrong" (attw). Prints a line for each; ends with code 1 where one has a problem. Builds nothing.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandFailed, run, runMain } from './run.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = (name) => join(root, 'node_modules', '.bin', name);

const CHECKS = [
  [program('publint'), ['run', '--strict', '--pack', 'npm', '.']],
  [program('attw'), ['--pack', '.', '--no-color', '--format', 'ascii']],
];

function publishedPackages() {
  return readdirSync(join(root, 'packages'))
    .map((name) => join(root, 'packages', name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({
      folder,
      manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
    }))
    .filter(({ manifest }) => !manifest.private);
}

/** What is wrong with a package, as text; empty where nothing is. */
async function problemsOf({ folder, manifest }) {
  if (!existsSync(join(folder, 'dist'))) return 'it is not built: npm run build';
  const missing = manifest.files.filter((file) => !existsSync(join(folder, file)));
  if (missing.length > 0) return `"files" names what is not there: ${missing.join(', ')}`;
  for (const [tool, args] of CHECKS) {
    const { code, output } = await run(tool, args, { cwd: folder, quiet: true });
    if (code !== 0) return output;
  }
  return '';
}

await runMain(async () => {
  const packages = publishedPackages();
  if (packages.length === 0) throw new CommandFailed('no published package found', { code: 1 });
  let failed = 0;
  for (const found of packages) {
    const problems = await problemsOf(found);
    console.log(`${found.manifest.name}: ${problems === '' ? 'ok' : `not ok\n${problems}`}`);
    if (problems !== '') failed++;
  }
  return failed === 0 ? 0 : 1;
});
