import { describeService, serve } from '@rl/adapter-suite';
import { createServiceLimiter } from '@rl/example-service';
import { createApp } from '../src/app.js';

describeService((store, fallback) =>
  serve(createApp(createServiceLimiter(store, fallback)).callback(), 'port'),
);
