import { describeAdapter, describeFleet } from '@rl/adapter-suite';
import { FASTIFY_5 } from './frameworks.js';

describeAdapter(FASTIFY_5);
describeFleet('Fastify 5', new URL('replica.mjs', import.meta.url));
