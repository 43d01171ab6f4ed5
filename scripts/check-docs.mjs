/**
 * Compiles every TypeScript example of the README files and docs/, as a user's own project would,
 * and runs those whose fence says so (```ts run). An example that no longer holds fails.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Within the repository, so that the examples find its packages. */
const work = join(root, 'node_modules', '.cache', 'docs-examples');

function pages() {
  const below = (folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md') && !/(^|\/)(node_modules|dist)\//.test(path))
      .map((path) => join(folder, path));
  const own = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'];
  return [...own, ...below('docs'), ...below('packages'), ...below('apps'), ...below('monitoring')];
}

/** Every ```ts block of a page: its text, its line, and whether it is to be run. */
function examplesOf(page) {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```ts( run)?\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    run: match[1] !== undefined,
    code: match[2],
  }));
}

rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const examples = pages().flatMap(examplesOf);
if (examples.length === 0) throw new Error('no example was found');

const files = examples.map((example) => {
  const name = `${relative('.', example.page).replaceAll(/[/.]/g, '_')}_${example.line}.mts`;
  writeFileSync(join(work, name), `export {};${example.code}`);
  return { ...example, name };
});
const compilerOptions = {
  target: 'es2022',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  skipLibCheck: false,
  outDir: 'out',
  rootDir: '.',
};
writeFileSync(join(work, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }));

let failed = false;
try {
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', work], { encoding: 'utf8', cwd: work });
} catch (error) {
  failed = true;
  console.error('An example does not compile (its name is the page and the line of its fence):');
  console.error(error.stdout);
}
for (const { name, page, line, run } of failed ? [] : files) {
  if (!run) continue;
  try {
    const path = join(work, 'out', name.replace('.mts', '.mjs'));
    execFileSync(process.execPath, [path], {
      encoding: 'utf8',
      cwd: dirname(path),
      timeout: 20_000,
    });
  } catch (error) {
    failed = true;
    console.error(`${page}:${line} failed when run:\n${error.stderr ?? error}`);
  }
}
rmSync(work, { recursive: true, force: true });
if (failed) process.exitCode = 1;
else
  console.log(`docs: ${files.length} examples compile, ${files.filter((f) => f.run).length} run`);
