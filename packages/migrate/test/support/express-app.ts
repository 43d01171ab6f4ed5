import { setImmediate as turn } from 'node:timers/promises';
import { ask, serve, type Target } from '@rl/adapter-suite';
import express, { type RequestHandler } from 'express';
import { afterEach } from 'vitest';
import { type Told, toldBy } from './told.js';

export interface RunningExpress {
  readonly target: Target;
  /** The answer, once all that the middleware does behind it has begun. */
  ask(path?: string): Promise<Told>;
}

/** Call it in a `describe`. What it returns starts an app, which ends with the test. */
export function useExpress(): (...middleware: RequestHandler[]) => Promise<RunningExpress> {
  const running: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((close) => close()));
  });
  /** Answers `/500` with a 500, and everything else with a 200. */
  return async (...middleware: RequestHandler[]) => {
    const app = express();
    app.set('env', 'test');
    let closed: Promise<void> = Promise.resolve();
    app.use((_req, res, next) => {
      closed = new Promise((resolve) => void res.once('close', resolve));
      next();
    });
    for (const one of middleware) app.use(one);
    app.use((req, res) => void res.status(req.path === '/500' ? 500 : 200).send('handled'));
    const { target, close } = await serve(app, 'port');
    running.push(close);
    return {
      target,
      async ask(path = '/'): Promise<Told> {
        const answer = await ask(target, { path });
        await closed;
        await turn();
        return toldBy(answer);
      },
    };
  };
}
