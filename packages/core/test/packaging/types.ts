import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type * as Oldest from 'typescript-oldest';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Links, makeConsumer, OWN_DEPENDENCIES, type Packed } from './consumer.js';
import { DOORS } from './doors.js';
import { ALL_DOORS } from './sample.js';

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const requireFromRoot = createRequire(new URL('../../../../package.json', import.meta.url));

type Compiler = typeof Oldest;

/** The compilers that have an API, by version. */
const COMPILERS: Readonly<Record<string, () => Compiler>> = {
  '5.4': () => require('typescript-oldest'),
  '6.0': () => requireFromRoot('typescript'),
};

/** What our types are written against, as the workspace has it. */
const NEWEST: Links = {
  ...OWN_DEPENDENCIES,
  '@types/express': 'express/@types/express',
  '@types/koa': 'koa/@types/koa',
  '@types/node': '../../node_modules/@types/node',
  fastify: 'fastify/fastify',
  ioredis: 'core/ioredis',
};
const OLDEST: Links = {
  ...NEWEST,
  '@types/express': 'core/@types/express4',
  '@types/koa': 'core/@types/koa2',
  fastify: 'fastify/fastify50',
  ioredis: 'core/ioredis5',
};

/** Module settings of a project, and its files. */
type Project = readonly [title: string, files: readonly string[], options: object];

const NODENEXT: Project = ['nodenext', ['all.mts', 'all.cts'], { module: 'nodenext' }];
const NODE16: Project = ['node16', ['all.mts', 'all.cts'], { module: 'node16' }];
const NODE16_PLAIN: Project = [
  'node16 without esModuleInterop',
  ['all.cts'],
  { module: 'node16', esModuleInterop: false },
];
const BUNDLER: Project = ['bundler', ['all.ts'], { module: 'esnext', moduleResolution: 'bundler' }];
const COMMONJS: Project = [
  'commonjs, resolved as bundlers do',
  ['all.ts'],
  { module: 'commonjs', moduleResolution: 'bundler' },
];
/** What `module: commonjs` meant by itself up to TypeScript 5: doors are found by `typesVersions`. */
const CLASSIC: readonly Project[] = [true, false].map((esModuleInterop) => [
  `commonjs with esModuleInterop ${esModuleInterop}`,
  ['all.ts'],
  { module: 'commonjs', moduleResolution: 'node10', esModuleInterop },
]);

const MATRIX: readonly [version: string, projects: readonly Project[]][] = [
  ['5.4', [NODENEXT, NODE16, NODE16_PLAIN, BUNDLER, ...CLASSIC]],
  ['6.0', [NODENEXT, BUNDLER, COMMONJS]],
];
/** This version has no API yet: its program is run. */
const NATIVE: readonly Project[] = [NODENEXT, NODE16, BUNDLER, COMMONJS];

/** Type checks of programs that use us, libraries included. */
export function describeTypes(packed: () => Packed): void {
  let newest: string;
  let oldest: string;
  beforeAll(async () => {
    newest = await makeProject(packed(), 'typed', NEWEST);
    oldest = await makeProject(packed(), 'typed-oldest', OLDEST);
  });

  describe.each(MATRIX)('TypeScript %s', (version, projects) => {
    test.each(projects)('P-01 compiles a program of ours: %s', async (...project) => {
      expect(await errorsOf(version, newest, project)).toEqual([]);
    });
  });

  describe('TypeScript 7.0', () => {
    test.each(NATIVE)('P-01 compiles a program of ours: %s', async (...project) => {
      const config = await writeConfig(newest, project);
      const tsc = requireFromRoot.resolve('@typescript/native/package.json');
      const args = [join(tsc, '../bin/tsc'), '-p', config, '--pretty', 'false'];
      const { stdout } = await run(process.execPath, args).catch((failed) => failed);
      expect(stdout).toBe('');
    });
  });

  test('P-03 the oldest types of Express, Fastify, Koa and ioredis that we take do as well', async () => {
    expect(await errorsOf('5.4', oldest, NODENEXT)).toEqual([]);
  });
}

async function makeProject(packed: Packed, title: string, links: Links): Promise<string> {
  const folder = await makeConsumer(packed, title, Object.keys(DOORS), links);
  for (const name of ['all.ts', 'all.mts', 'all.cts']) {
    await writeFile(join(folder, name), ALL_DOORS);
  }
  return folder;
}

async function writeConfig(folder: string, [title, files, options]: Project): Promise<string> {
  const path = join(folder, `tsconfig.${title.replace(/\W+/g, '-')}.json`);
  const strict = { noEmit: true, strict: true, skipLibCheck: false, target: 'es2022' };
  const compilerOptions = { ...strict, types: ['node'], ...options };
  await writeFile(path, JSON.stringify({ compilerOptions, files }));
  return path;
}

/** The errors in the program and in our declarations; not those in declarations of others. */
async function errorsOf(version: string, folder: string, project: Project): Promise<string[]> {
  const ts = COMPILERS[version]?.() as Compiler;
  const path = await writeConfig(folder, project);
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} };
  const config = ts.getParsedCommandLineOfConfigFile(path, {}, host);
  if (config === undefined) throw new Error(`${path} cannot be read`);
  const program = ts.createProgram(
    config.fileNames,
    config.options,
    cachingHost(ts, config.options),
  );
  const ours = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(folder));
  const diagnostics = [
    ...config.errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...ours.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
  ];
  return diagnostics.map(({ file, code, messageText }) => {
    const where = file === undefined ? project[0] : file.fileName.slice(folder.length + 1);
    return `${where}: TS${code} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

const PARSED = new WeakMap<Compiler, Map<string, Oldest.SourceFile | undefined>>();

/** Parses what is installed once for all programs of a compiler: most of the time goes there. */
function cachingHost(ts: Compiler, options: Oldest.CompilerOptions): Oldest.CompilerHost {
  const parsed = PARSED.get(ts) ?? new Map<string, Oldest.SourceFile | undefined>();
  PARSED.set(ts, parsed);
  const host = ts.createCompilerHost(options, true);
  const parse = host.getSourceFile;
  host.getSourceFile = (name, how, ...rest) => {
    if (!name.includes('/node_modules/')) return parse(name, how, ...rest);
    const key = `${typeof how === 'object' ? how.impliedNodeFormat : ''} ${name}`;
    if (!parsed.has(key)) parsed.set(key, parse(name, how, ...rest));
    return parsed.get(key);
  };
  return host;
}
