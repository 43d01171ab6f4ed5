import { describeAdapter, describeFleet } from '@rl/adapter-suite';
import { KOA_2, KOA_3 } from './frameworks.js';

describeAdapter(KOA_2);
describeAdapter(KOA_3);
describeFleet('Koa 3', new URL('replica.mjs', import.meta.url));
