import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, test } from 'vitest';
import webpack from 'webpack';
import { makeConsumer, OWN_DEPENDENCIES, type Packed } from './consumer.js';
import { DOORS } from './doors.js';
import { programFor, wellFor } from './runtime.js';

const run = promisify(execFile);

/** Bundles `entry` for Node into `out`, an ES module, and returns every complaint. */
type Bundler = (entry: string, out: string) => Promise<string[]>;

const BUNDLERS: Readonly<Record<string, Bundler>> = {
  async esbuild(entry, out) {
    const { errors, warnings, metafile } = await build({
      entryPoints: [entry],
      outfile: out,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
      metafile: true,
      // An ES module has no `require` for the CommonJS packages in it.
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    });
    const outputs = Object.values(metafile.outputs);
    const left = outputs.flatMap(({ imports }) => imports.map(({ path }) => path));
    return [...[...errors, ...warnings].map(({ text }) => text), ...unresolved(left)];
  },

  async rolldown(entry, out) {
    const complaints: string[] = [];
    const onLog = (_level: string, { message }: { message: string }): void =>
      void complaints.push(message);
    const bundle = await rolldown({ input: entry, platform: 'node', onLog });
    const { output } = await bundle.write({ file: out, format: 'es', codeSplitting: false });
    await bundle.close();
    const left = output.flatMap((part) => (part.type === 'chunk' ? part.imports : []));
    return [...complaints, ...unresolved(left)];
  },

  async webpack(entry, out) {
    const compiler = webpack({
      entry,
      output: { path: join(out, '..'), filename: 'webpack.mjs', module: true },
      experiments: { outputModule: true },
      target: 'node20',
      mode: 'none',
    });
    const stats = await promisify(compiler.run.bind(compiler))();
    await promisify(compiler.close.bind(compiler))();
    const { errors = [], warnings = [] } =
      stats?.toJson({ all: false, errors: true, warnings: true }) ?? {};
    return [...errors, ...warnings].map(({ message }) => message);
  },
};

/** What is left to be imported at run time and does not come with Node. */
function unresolved(imports: readonly string[]): string[] {
  const builtin = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));
  return imports.filter((name) => !builtin.has(name)).map((name) => `not resolved: ${name}`);
}

/** Bundlers, which follow every import there is in the text. */
export function describeBundles(packed: () => Packed): void {
  describe.each([
    ['the core alone', ['@rl/core'], {}],
    ['everything, without frameworks', Object.keys(DOORS), OWN_DEPENDENCIES],
  ])('bundling %s', (title, names, links) => {
    let folder: string;
    let entry: string;
    beforeAll(async () => {
      folder = await makeConsumer(packed(), `bundled-${names.length}`, names, links);
      entry = join(folder, 'entry.mjs');
      await writeFile(entry, programFor(names, 'mjs'));
    });

    test.each(Object.entries(BUNDLERS))(
      `P-02 %s resolves all of ${title}, and it works`,
      async (name, bundler) => {
        const out = join(folder, `${name}.mjs`);
        expect(await bundler(entry, out)).toEqual([]);
        const { stdout } = await run(process.execPath, [out]);
        expect(JSON.parse(stdout)).toEqual(wellFor(names));
      },
    );
  });
}
