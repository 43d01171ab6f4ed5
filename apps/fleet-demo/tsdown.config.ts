import { defineConfig, type UserConfig } from 'tsdown';

const config: UserConfig = defineConfig({
  entry: ['src/main.ts', 'src/replica.ts'],
  format: ['esm'],
  dts: false,
  platform: 'node',
  target: 'node20',
  clean: true,
});

export default config;
