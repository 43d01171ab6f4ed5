import { createRequire } from 'node:module';
import { describeStatusPage, type StatusFramework, serve } from '@rl/adapter-suite';
import express, { type ErrorRequestHandler } from 'express';
import { statusPage } from '../src/index.js';

/** Has no types of its own under this name; what is used of it is the same. */
const express4 = createRequire(import.meta.url)('express4') as typeof express;

describeStatusPage(framework('Express 4', express4));
describeStatusPage(framework('Express 5', express));

function framework(name: string, make: typeof express): StatusFramework {
  return {
    name,
    async start(options, listen, onError) {
      const app = make();
      // The default error handler prints the errors elsewhere.
      app.set('env', 'test');
      const ops = make.Router();
      ops.use('/limits', statusPage(options));
      app.use('/ops', ops);
      const report: ErrorRequestHandler = (error, _req, _res, next) => {
        onError(error);
        next(error);
      };
      app.use(report);
      return serve(app, listen);
    },
  };
}
