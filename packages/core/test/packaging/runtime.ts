import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { makeConsumer, OWN_DEPENDENCIES, type Packed } from './consumer.js';
import { DOORS, specifierOf } from './doors.js';

const run = promisify(execFile);

/** A program that imports the doors of these packages and prints what came of it. */
export function programFor(names: readonly string[], format: 'mjs' | 'cjs'): string {
  const uses = names.flatMap((name) =>
    Object.entries(DOORS[name] ?? {}).map(([door, { names: imported, use }]) => {
      const specifier = specifierOf(name, door);
      const load = format === 'mjs' ? `await import('${specifier}')` : `require('${specifier}')`;
      return `{ const all = ${load}; const { ${imported.join(', ')} } = all;
        seen['${specifier}'] = { worked: ${use}, hasDefault: 'default' in all }; }`;
    }),
  );
  // Statically as well: it is how ES modules are written, and what bundlers look at.
  const imports = names.flatMap((name) =>
    Object.entries(DOORS[name] ?? {}).map(([door, { names: imported }], i) => {
      const aliases = imported.map((one) => `${one} as ${one}${i}${name.replace(/\W/g, '_')}`);
      return `import { ${aliases.join(', ')} } from '${specifierOf(name, door)}';`;
    }),
  );
  return `${format === 'mjs' ? imports.join('\n') : ''}
    (async () => {
      const seen = {};
      ${uses.join('\n')}
      console.log(JSON.stringify(seen));
    })();`;
}

/** What such a program prints where all is well. */
export function wellFor(names: readonly string[]): object {
  const doors = names.flatMap((name) =>
    Object.keys(DOORS[name] ?? {}).map((door) => specifierOf(name, door)),
  );
  return Object.fromEntries(doors.map((door) => [door, { worked: true, hasDefault: false }]));
}

/** Imports at run time, without a bundler. */
export function describeRuntime(packed: () => Packed): void {
  const all = Object.keys(DOORS);

  const runIn = async (folder: string, names: readonly string[], format: 'mjs' | 'cjs') => {
    const file = join(folder, `main.${format}`);
    await writeFile(file, programFor(names, format));
    const { stdout, stderr } = await run(process.execPath, [file]);
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  };

  test('P-01 the list of doors here is that of the manifests', () => {
    const found = [...packed().packages.values()].map(({ manifest }) => [
      manifest.name,
      Object.keys(manifest.exports).filter((door) => door !== './package.json'),
    ]);
    const listed = Object.entries(DOORS).map(([name, doors]) => [name, Object.keys(doors)]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(listed));
  });

  test('P-01 a manifest names real versions only', () => {
    for (const { manifest } of packed().packages.values()) {
      const ranges = { ...manifest.dependencies, ...manifest.peerDependencies };
      for (const range of Object.values(ranges)) expect(range).toMatch(/^\^?\d+\.\d+\.\d+/);
    }
  });

  describe.each(['mjs', 'cjs'] as const)('imported by Node in a .%s file', (format) => {
    test('P-01 P-02 every documented name works, also with no framework installed', async () => {
      const folder = await makeConsumer(packed(), `all-${format}`, all, OWN_DEPENDENCIES);
      expect(await runIn(folder, all, format)).toEqual(wellFor(all));
    });

    test('P-02 the core works alone', async () => {
      const folder = await makeConsumer(packed(), `core-${format}`, ['@rl/core']);
      expect(await runIn(folder, ['@rl/core'], format)).toEqual(wellFor(['@rl/core']));
    });
  });
}
