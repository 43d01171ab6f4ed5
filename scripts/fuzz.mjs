/**
 * `npm run fuzz -- --runs 20000 --seconds 10`: the random histories, many more of them than in `npm
 * test`, and fleets of real processes for longer. Other arguments are passed on to vitest.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureRedis } from './ensure-redis.mjs';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

await runMain(async () => {
  const { values, positionals } = parseArgs({
    args: userArguments(),
    options: {
      runs: { type: 'string', default: '20000' },
      seconds: { type: 'string', default: '10' },
    },
    allowPositionals: true,
  });
  if (!/^[1-9]\d{0,8}$/.test(values.runs)) {
    throw new RangeError(`--runs must be a whole number of at least 1, got ${values.runs}`);
  }
  if (!/^[1-9]\d{0,3}$/.test(values.seconds)) {
    throw new RangeError(`--seconds must be a whole number from 1 to 9999, got ${values.seconds}`);
  }
  const env = {
    ...(await setUp()),
    RL_FUZZ_RUNS: values.runs,
    RL_FLEET_SECONDS: values.seconds,
  };
  await ensureRedis();
  const vitest = join(root, 'node_modules', '.bin', 'vitest');
  const filters = positionals.length > 0 ? positionals : ['.fuzz.test.ts'];
  return (await run(vitest, ['run', ...filters], { cwd: root, env })).code;
});
