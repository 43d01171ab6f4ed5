import Router from '@koa/router';
import { ask, serve } from '@rl/adapter-suite';
import Koa, { type Context } from 'koa';
import { afterEach, describe, expect, test } from 'vitest';
import { endpointOf } from '../src/index.js';
import { Router12 } from './frameworks.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** Answers with the endpoint of the request, or `none`. */
const tell = (ctx: Context): void => {
  ctx.body = endpointOf(ctx) ?? 'none';
};

async function endpointsOf(app: Koa, ...requests: string[]): Promise<string[]> {
  const { target, close } = await serve(app.callback(), 'port');
  closing.push(close);
  const endpoints: string[] = [];
  for (const request of requests) {
    const [method = '', path = ''] = request.split(' ');
    const answer = await ask(target, { method, path });
    endpoints.push(answer.status === 200 ? answer.body : String(answer.status));
  }
  return endpoints;
}

describe.each([
  ['12', Router12],
  ['15', Router],
])('endpointOf with @koa/router %s', (_, AppRouter) => {
  test('is the methods and pattern of a route, in any spelling', async () => {
    const app = new Koa();
    const router = new AppRouter();
    router.get('/verify/:code', tell);
    router.post('/lang', tell);
    router.register('/both', ['put', 'post'], [tell]);
    router.all('/all', tell);
    app.use(router.routes());
    const spellings = ['POST /lang', 'POST /LANG', 'POST /lang/', 'POST /lang?a=b'];
    expect(await endpointsOf(app, ...spellings)).toEqual(spellings.map(() => 'POST /lang'));
    expect(
      await endpointsOf(app, 'GET /verify/1', 'GET /verify/2', 'PUT /both', 'POST /both'),
    ).toEqual(['GET /verify/:code', 'GET /verify/:code', 'POST,PUT /both', 'POST,PUT /both']);
    expect(await endpointsOf(app, 'DELETE /all', 'PATCH /all')).toEqual(['* /all', '* /all']);
  });

  test('of nested routers it is the whole path as it was declared', async () => {
    const app = new Koa();
    const codes = new AppRouter({ prefix: '/codes' });
    codes.get('/:code', tell);
    const users = new AppRouter({ prefix: '/users' });
    users.use('/:user', codes.routes());
    app.use(users.routes());
    expect(await endpointsOf(app, 'GET /users/1/codes/a', 'GET /USERS/2/codes/b')).toEqual([
      'GET /users/:user/codes/:code',
      'GET /users/:user/codes/:code',
    ]);
  });

  test('is known in the middleware of a router, and of several routes it is the one running', async () => {
    const app = new Koa();
    const router = new AppRouter();
    const seen: unknown[] = [];
    const note = (ctx: Context, next: () => Promise<unknown>): Promise<unknown> => {
      seen.push(endpointOf(ctx));
      return next();
    };
    router.use(note);
    router.get('/verify/:code', note);
    router.get('/verify/all', tell);
    app.use(router.routes());
    expect(await endpointsOf(app, 'GET /verify/all')).toEqual(['GET /verify/all']);
    expect(seen).toEqual(['GET /verify/all', 'GET /verify/:code']);
  });

  test('HEAD is the GET it is answered from', async () => {
    const app = new Koa();
    const router = new AppRouter();
    const seen: unknown[] = [];
    router.get('/', (ctx) => void seen.push(endpointOf(ctx)));
    app.use(router.routes());
    await endpointsOf(app, 'HEAD /', 'GET /');
    expect(seen).toEqual(['GET /', 'GET /']);
  });

  test('there is none before the router and where no route was found', async () => {
    const app = new Koa();
    const router = new AppRouter();
    router.get('/x', tell);
    router.post('/y', tell);
    const before: unknown[] = [];
    app.use((ctx, next) => {
      before.push(endpointOf(ctx));
      return next();
    });
    app.use(router.routes());
    app.use(tell);
    expect(await endpointsOf(app, 'GET /x', 'GET /y', 'GET /z')).toEqual([
      'GET /x',
      'none',
      'none',
    ]);
    expect(before).toEqual([undefined, undefined, undefined]);
  });
});

test('without a router there is none', async () => {
  const app = new Koa();
  app.use(tell);
  expect(await endpointsOf(app, 'GET /')).toEqual(['none']);
});
