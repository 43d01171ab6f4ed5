import { defineConfig, type UserConfig } from 'tsdown';

const config: UserConfig = defineConfig({
  entry: { tour: 'src/tour.ts' },
  format: ['esm'],
  platform: 'node',
  target: 'node20',
  clean: true,
});

export default config;
