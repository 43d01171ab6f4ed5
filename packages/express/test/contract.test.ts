import { describeAdapter, describeFleet } from '@rl/adapter-suite';
import { EXPRESS_4, EXPRESS_5 } from './frameworks.js';

describeAdapter(EXPRESS_4);
describeAdapter(EXPRESS_5);
describeFleet('Express 5', new URL('replica.mjs', import.meta.url));
