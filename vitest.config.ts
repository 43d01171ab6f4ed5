import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const root = fileURLToPath(new URL('.', import.meta.url));

/** As any test has, and what the runs of a long fuzz need (npm run fuzz). */
const testTimeout = 20_000 + 50 * Number(process.env.RL_FUZZ_RUNS ?? 0);

/** One project for each member of the workspace, all with the same settings. */
const projects = ['packages', 'apps'].flatMap((group) =>
  readdirSync(join(root, group))
    .map((name) => join(root, group, name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({
      test: {
        name: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name as string,
        root: folder,
        include: ['test/**/*.test.ts'],
        pool: 'forks' as const,
        // Files share a process: to start one and to load what is tested took longer than most tests.
        isolate: false,
        testTimeout,
        hookTimeout: 30_000,
      },
    })),
);

const config: ViteUserConfig = defineConfig({
  test: {
    projects,
    maxWorkers: 2,
    // One Redis for the whole run; without one the run ends here.
    globalSetup: ['packages/testkit/src/global-setup.ts'],
  },
});

export default config;
