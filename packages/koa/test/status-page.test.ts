import { createRequire } from 'node:module';
import { describeStatusPage, type StatusFramework, serve } from '@rl/adapter-suite';
import Koa from 'koa';
import { expect, test } from 'vitest';
import { statusPage } from '../src/index.js';

/** Has no types of its own under this name; what is used of it is the same. */
const Koa2 = createRequire(import.meta.url)('koa2') as typeof Koa;

describeStatusPage(framework('Koa 2', Koa2));
describeStatusPage(framework('Koa 3', Koa));

function framework(name: string, App: typeof Koa): StatusFramework {
  return {
    name,
    async start(options, listen, onError) {
      const app = new App();
      app.on('error', (error) => onError(error));
      app.use(statusPage({ ...options, path: '/ops/limits/' }));
      return serve(app.callback(), listen);
    },
  };
}

test.each(['ops', '//ops', '/a b', '/a?b', 1])('the path %j is refused', (path) => {
  expect(() => statusPage({ path } as never)).toThrow(/^path must be a path .* got /);
});
