import { defineConfig } from 'tsdown';

export default defineConfig({
  entry: [
    'src/index.ts',
    'src/redis.ts',
    'src/http.ts',
    'src/metrics.ts',
    'src/status.ts',
    'src/testing.ts',
  ],
  format: ['esm', 'cjs'],
  dts: true,
  platform: 'node',
  target: 'node20',
  clean: true,
});
