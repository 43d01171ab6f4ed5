import { defineConfig, type UserConfig } from 'tsdown';

const config: UserConfig = defineConfig({
  entry: ['src/main.ts', 'src/scenario-process.ts'],
  format: ['esm'],
  platform: 'node',
  target: 'node20',
  // Every contender is measured as its package ships it, so nothing is bundled.
  external: [/^[^./]/],
  clean: true,
});

export default config;
