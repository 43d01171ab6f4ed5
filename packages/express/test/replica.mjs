import { runReplica, serve } from '@rl/adapter-suite/replica';
import { rateLimit } from '@rl/express';
import express from 'express';

await runReplica((options) => {
  const app = express();
  app.use(rateLimit(options));
  app.get('/', (_req, res) => res.send('ok'));
  return serve(app, 'port');
});
