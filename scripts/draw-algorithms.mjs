/**
 * Draws docs/img/<algorithm>.svg from runs of the built packages; with `--check` it writes nothing
 * and fails where a file is not what it would draw.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ALGORITHMS, createLimiter, memoryStore } from '@rl/core';
import { ManualClock } from '@rl/core/testing';
import { picture } from './algorithm-picture.mjs';
import { runAll } from './algorithm-runs.mjs';

const folder = fileURLToPath(new URL('../docs/img/', import.meta.url));
const [flag, ...others] = process.argv.slice(2);
if ((flag !== undefined && flag !== '--check') || others.length > 0) {
  throw new Error(`draw-algorithms takes nothing or --check, not: ${[flag, ...others].join(' ')}`);
}

mkdirSync(folder, { recursive: true });
const different = [];
for (const run of runAll({ createLimiter, memoryStore, ManualClock }, ALGORITHMS)) {
  const path = `${folder}${run.algorithm}.svg`;
  const drawn = picture(run);
  if (flag === undefined) writeFileSync(path, drawn);
  else if (readIfThere(path) !== drawn) different.push(path);
  const { algorithm, calls, allowedAtMs, mostInWindow, mostInTenth } = run;
  console.log(
    `${algorithm}: ${allowedAtMs.length} of ${calls.length} allowed, at most ${mostInWindow} in 1 s, ${mostInTenth} in 100 ms`,
  );
}
for (const path of different) {
  console.error(`${path} is not what is drawn now: run node scripts/draw-algorithms.mjs`);
}
if (different.length > 0) process.exitCode = 1;

/** Undefined where there is no such file. */
function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
