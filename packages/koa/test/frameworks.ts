import { createRequire } from 'node:module';
import { type Framework, serve } from '@rl/adapter-suite';
import Koa from 'koa';
import { rateLimit } from '../src/index.js';

/** Has no types of its own under this name; what is used of it is the same. */
const Koa2 = createRequire(import.meta.url)('koa2') as typeof Koa;

export const KOA_2: Framework = framework('Koa 2', Koa2);
export const KOA_3: Framework = framework('Koa 3', Koa);

function framework(name: string, App: typeof Koa): Framework {
  return {
    name,
    async start({ limiters, trustProxy = false, onArrival, onHandled, onError }, listen) {
      const app = new App({ proxy: trustProxy, maxIpsCount: 1 });
      app.on('error', (error) => onError?.(error));
      app.use((ctx, next) => {
        ctx.set('access-control-allow-origin', '*');
        // Koa writes only when the middleware is done, and not at all where it is told so.
        onArrival?.(
          () => ctx.res.writeHead(503).end('late'),
          () => {
            ctx.respond = false;
            return ctx.res;
          },
        );
        return next();
      });
      for (const options of limiters) app.use(rateLimit(options));
      app.use((ctx) => {
        onHandled?.();
        ctx.body = 'ok';
      });
      return serve(app.callback(), listen);
    },
  };
}
