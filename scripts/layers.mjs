// The rule of which part may import which, as data, and the function that holds sources to it.

/** Core's folders, from the ground up: a file imports from its own folder or from one above it. */
export const CORE_LAYERS = [
  ['errors.ts', 'warnings.ts'],
  ['time', 'arith'],
  ['policy', 'key', 'decision'],
  ['metrics'],
  ['algorithms'],
  ['store'],
  ['lease', 'fallback'],
  ['region'],
  ['limiter'],
  ['publishing'],
  ['status'],
  ['http'],
  ['testing'],
];

/** What each door of core may open, besides types. */
const CORE_DOORS = {
  'index.ts':
    /^(errors\.ts|(policy|key|decision|limiter|fallback|metrics|time)\/|store\/(store\.ts|memory\/))/,
  'redis.ts': /^(store\/redis|region)\//,
  'http.ts': /^http\//,
  'metrics.ts': /^(publishing|metrics|fallback)\//,
  'status.ts': /^status\//,
  'testing.ts': /^testing\//,
};

/** What each package may import besides its own files. Core imports no client and no framework. */
const PACKAGES = {
  core: /^node:(crypto|async_hooks|diagnostics_channel|dns\/promises)$/,
  express: /^(@rl\/core(\/(http|status))?|express)$/,
  fastify: /^(@rl\/core(\/(http|status))?|fastify|fastify-plugin)$/,
  fetch: /^@rl\/core(\/(http|status))?$/,
  koa: /^(@rl\/core(\/(http|status))?|koa)$/,
  migrate: /^(@rl\/core(\/http)?|node:async_hooks)$/,
  otel: /^(@rl\/core(\/(http|metrics))?|@opentelemetry\/api|node:diagnostics_channel)$/,
  prometheus: /^(@rl\/core(\/(http|metrics))?|prom-client)$/,
  testkit: /^(?!@rl\/)/,
};

/** The one file that may read this process's clock. */
const CLOCK_FILE = 'time/clock.ts';
const CLOCK = /\b(performance|process\.hrtime|Date\.now)\b|\bnew Date\(\)/;

/**
 * What breaks the rule, a line each.
 *
 * @param {Iterable<[string, string]>} sources path from `packages/` (`core/src/a/b.ts`) and text
 * @returns {string[]}
 */
export function findViolations(sources) {
  const found = [];
  for (const [path, text] of sources) {
    const [, name, file] = /^([^/]+)\/src\/(.+)$/.exec(path) ?? [];
    if (!(name in PACKAGES)) continue;
    for (const target of importsOf(text)) {
      if (!target.startsWith('.')) {
        if (!PACKAGES[name].test(target)) found.push(`${path} may not import ${target}`);
      } else if (name === 'core' && !mayImport(file, resolve(file, target))) {
        found.push(`${path} may not import ${resolve(file, target)}`);
      }
    }
    if (name === 'core' && file !== CLOCK_FILE && CLOCK.test(withoutComments(text))) {
      found.push(`${path} reads a clock: time is an argument, and only ${CLOCK_FILE} may`);
    }
  }
  return found;
}

function mayImport(file, target) {
  if (file in CORE_DOORS) return CORE_DOORS[file].test(target);
  const from = layerOf(file);
  const to = layerOf(target);
  if (from < 0 || to < 0) return false;
  return to < from || folderOf(file) === folderOf(target);
}

function folderOf(file) {
  return file.split('/')[0];
}

function layerOf(file) {
  return CORE_LAYERS.findIndex((layer) => layer.includes(folderOf(file)));
}

/** `a/b.ts` and `../c/d.js` make `c/d.ts`. */
function resolve(file, target) {
  const parts = file.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/').replace(/\.js$/, '.ts');
}

function importsOf(text) {
  const pattern = /(?:\bfrom|\bimport|\brequire\()\s*\(?\s*['"]([^'"]+)['"]/g;
  return [...withoutComments(text).matchAll(pattern)].map((match) => match[1]);
}

function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
