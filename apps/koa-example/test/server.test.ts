import { describeServer } from '@rl/adapter-suite';

describeServer(new URL('../dist/server.mjs', import.meta.url));
