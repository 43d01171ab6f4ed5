import { runReplica, serve } from '@rl/adapter-suite/replica';
import { rateLimit } from '@rl/koa';
import Koa from 'koa';

await runReplica((options) => {
  const app = new Koa();
  app.use(rateLimit(options));
  app.use((ctx) => {
    ctx.body = 'ok';
  });
  return serve(app.callback(), 'port');
});
