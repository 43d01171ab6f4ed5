import { defineConfig, type UserConfig } from 'tsdown';

const config: UserConfig = defineConfig({
  // Programs, all in one folder: they start each other by name.
  entry: {
    main: 'src/main.ts',
    chaos: 'src/chaos/main.ts',
    'chaos-replica': 'src/chaos/replica-process.ts',
    cluster: 'src/cluster-run/main.ts',
    regions: 'src/regions/main.ts',
    failover: 'src/failover/main.ts',
    'http-cost': 'src/http-cost/main.ts',
    'fleet-simulation': 'src/fleet-simulation/main.ts',
    'scenario-process': 'src/scenario-process.ts',
    'server-process': 'src/servers/server-process.ts',
  },
  format: ['esm'],
  platform: 'node',
  target: 'node20',
  // Every contender is measured as its package ships it, so nothing is bundled.
  external: [/^[^./]/],
  clean: true,
});

export default config;
