import { createRequire } from 'node:module';
import { type Framework, serve } from '@rl/adapter-suite';
import express, { type ErrorRequestHandler, type Request, type Response } from 'express';
import { endpointOf, rateLimit } from '../src/index.js';

/** Has no types of its own under this name; what is used of it is the same. */
const express4 = createRequire(import.meta.url)('express4') as typeof express;

export const EXPRESS_4: Framework = framework('Express 4', express4);
export const EXPRESS_5: Framework = framework('Express 5', express);

function framework(name: string, make: typeof express): Framework {
  return {
    name,
    endpointOf,
    async start(plan, listen) {
      const { limiters, trust, routes = [], onArrival, onHandled, onError } = plan;
      const app = make();
      // The default error handler prints the errors elsewhere.
      app.set('env', 'test');
      app.set('trust proxy', { nobody: false, one: 1, anybody: true }[trust ?? 'nobody']);
      app.use((_req, res, next) => {
        res.setHeader('access-control-allow-origin', '*');
        onArrival?.(
          () => res.status(503).send('late'),
          () => res,
        );
        next();
      });
      for (const options of limiters) app.use(rateLimit(options));
      for (const { method, path, limiter } of routes) {
        const add = method === 'GET' ? app.get.bind(app) : app.post.bind(app);
        add(path, rateLimit(limiter), (_req: Request, res: Response) => void res.send('ok'));
      }
      app.all('/', (req, res, next) => {
        onHandled?.();
        const status = plan.statusOf?.(req) ?? 200;
        if (typeof status === 'number') res.status(status).send('ok');
        else status.then((later) => res.status(later).send('ok')).catch(next);
      });
      const report: ErrorRequestHandler = (error, _req, res, next) => {
        onError?.(error);
        if (plan.handlesErrors) res.status(error.status).send('custom');
        else next(error);
      };
      app.use(report);
      return serve(app, listen);
    },
  };
}
