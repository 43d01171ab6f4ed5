/**
 * `npm test`: sets up what is missing, sees to a Redis, runs every test. Arguments are passed on to
 * vitest (`npm test -- packages/core`). The last line on stdout is `N passed, N failed`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureRedis } from './ensure-redis.mjs';
import { run, runMain, userArguments } from './run.mjs';
import { root, setUp } from './setup.mjs';

/** Where the tests cannot even begin, that is one failure. */
await runMain(runTests, () => console.log('0 passed, 1 failed'));

async function runTests() {
  const env = await setUp();
  await ensureRedis();
  const folder = mkdtempSync(join(tmpdir(), 'test-report-'));
  try {
    const report = join(folder, 'report.json');
    const vitest = join(root, 'node_modules', '.bin', 'vitest');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const args = ['run', ...reporters, ...userArguments()];
    const { code } = await run(vitest, args, { cwd: root, env });
    return conclude(code, count(report));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Passed and failed tests by vitest's report. A file that failed although none of its tests did (it
 * could not be loaded, a hook of it threw) counts as one more failure. Undefined without a report.
 */
function count(report) {
  let results;
  try {
    results = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return undefined;
  }
  const brokenFiles = results.testResults.filter(
    (file) =>
      file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  return { passed: results.numPassedTests, failed: results.numFailedTests + brokenFiles };
}

/** Prints the closing line and returns the exit code: 0 only if tests ran and none failed. */
function conclude(code, counts) {
  let { passed, failed } = counts ?? { passed: 0, failed: 0 };
  if (failed === 0 && code !== 0) {
    console.log(`vitest ended with code ${code} though no test failed: see above. Counted as one.`);
    failed = 1;
  }
  if (passed + failed === 0) console.log('No test ran: that is a failure.');
  console.log(`${passed} passed, ${failed} failed`);
  if (code !== 0) return code;
  return failed > 0 || passed === 0 ? 1 : 0;
}
