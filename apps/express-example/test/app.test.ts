import { describeService, serve } from '@rl/adapter-suite';
import { createApp } from '../src/app.js';

describeService((store, fallback) => serve(createApp(store, fallback), 'port'));
