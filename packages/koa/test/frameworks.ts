import { createRequire } from 'node:module';
import Router from '@koa/router';
import { type Framework, serve } from '@rl/adapter-suite';
import Koa, { type Middleware } from 'koa';
import { endpointOf, rateLimit } from '../src/index.js';

/** Have no types of their own under these names; what is used of them is the same. */
const require = createRequire(import.meta.url);
const Koa2 = require('koa2') as typeof Koa;
export const Router12: typeof Router = require('@koa/router12');

export const KOA_2: Framework = framework('Koa 2', Koa2, Router12);
export const KOA_3: Framework = framework('Koa 3', Koa, Router);

/** What an app's own error handling may look like. */
const answerErrors: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    ctx.status = (error as { status: number }).status;
    ctx.body = 'custom';
  }
};

function framework(name: string, App: typeof Koa, AppRouter: typeof Router): Framework {
  return {
    name,
    endpointOf,
    async start(plan, listen) {
      const { limiters, trust = 'nobody', routes = [], onArrival, onHandled, onError } = plan;
      const maxIpsCount = trust === 'anybody' ? 0 : 1;
      const app = new App({ proxy: trust !== 'nobody', maxIpsCount });
      app.on('error', (error) => onError?.(error));
      if (plan.handlesErrors) app.use(answerErrors);
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
      const router = new AppRouter();
      for (const { method, path, limiter } of routes) {
        const add = method === 'GET' ? router.get.bind(router) : router.post.bind(router);
        add(path, rateLimit(limiter), (ctx) => {
          ctx.body = 'ok';
        });
      }
      app.use(router.routes());
      app.use((ctx) => {
        if (ctx.path !== '/') return;
        onHandled?.();
        const answer = (status: number): void => {
          ctx.status = status;
          ctx.body = 'ok';
        };
        const status = plan.statusOf?.(ctx) ?? 200;
        return typeof status === 'number' ? answer(status) : status.then(answer);
      });
      return serve(app.callback(), listen);
    },
  };
}
