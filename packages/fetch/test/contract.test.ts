import { describeAdapter } from '@rl/adapter-suite';
import { FETCH } from './frameworks.js';

describeAdapter(FETCH);
