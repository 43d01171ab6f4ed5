import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Not among what `npm test` runs: these need a browser. */
const config: ViteUserConfig = defineConfig({
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['browser/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});

export default config;
