import { createRequire } from 'node:module';
import { ask, serve } from '@rl/adapter-suite';
import express, { type Express, type Request, type Router } from 'express';
import { afterEach, describe, expect, test } from 'vitest';
import { endpointOf } from '../src/index.js';

const express4 = createRequire(import.meta.url)('express4') as typeof express;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** Answers with the endpoint of the request, or `none`. */
const tell = (req: Request, res: { send(body: string): unknown }): void =>
  void res.send(endpointOf(req) ?? 'none');

async function endpointsOf(app: Express, ...requests: string[]): Promise<string[]> {
  const { target, close } = await serve(app, 'port');
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
  ['Express 4', express4],
  ['Express 5', express],
])('endpointOf in %s', (_, make) => {
  test('is the method and pattern of a route, in any spelling', async () => {
    const app = make();
    app.get('/verify/:code', tell);
    app.post('/lang', tell);
    app.all('/all', tell);
    app.route('/every').all(tell);
    app.route('/book').get(tell).post(tell);
    app.get(['/one', '/two'], tell);
    app.get(/^\/number\/\d+$/, tell);
    const spellings = ['POST /lang', 'POST /LANG', 'POST /lang/', 'POST /lang?a=b'];
    expect(await endpointsOf(app, ...spellings)).toEqual(spellings.map(() => 'POST /lang'));
    expect(
      await endpointsOf(app, 'GET /verify/1', 'GET /verify/2', 'DELETE /all', 'GET /two'),
    ).toEqual(['GET /verify/:code', 'GET /verify/:code', '* /all', 'GET /one,/two']);
    expect(await endpointsOf(app, 'PUT /every', 'GET /book', 'POST /book')).toEqual([
      '* /every',
      'GET /book',
      'POST /book',
    ]);
    expect(await endpointsOf(app, 'GET /number/7')).toEqual(['GET /^\\/number\\/\\d+$/']);
  });

  test('of a router it is the whole path as it was declared, not as the client wrote it', async () => {
    const app = make();
    const codes: Router = make.Router();
    codes.get('/', tell);
    codes.get('/:code', tell);
    const users: Router = make.Router();
    users.use('/:user/codes', codes);
    users.get('/', tell);
    app.use('/users', users);
    const orders: Router = make.Router();
    orders.get('/', tell);
    app.use('/orders', orders);
    const plain: Router = make.Router();
    plain.get('/plain', tell);
    app.use(plain);
    expect(await endpointsOf(app, 'GET /users', 'GET /USERS/', 'GET /orders')).toEqual([
      'GET /users/',
      'GET /users/',
      'GET /orders/',
    ]);
    expect(await endpointsOf(app, 'GET /plain')).toEqual(['GET /plain']);
    const guesses = ['GET /users/1/codes/a', 'GET /users/2/codes/b', 'GET /USERS/3/codes/c'];
    const endpoints = await endpointsOf(app, ...guesses);
    expect(new Set(endpoints).size).toBe(1);
    expect(endpoints[0]).toMatch(/^GET \/users.*\/codes\/:code$/);
    expect(await endpointsOf(app, 'GET /users/1/codes')).not.toEqual(endpoints.slice(0, 1));
  });

  test('of a mounted app too', async () => {
    const app = make();
    const api = make();
    api.get('/lang', tell);
    app.use('/api', api);
    expect(await endpointsOf(app, 'GET /api/lang', 'GET /API/LANG')).toEqual([
      'GET /api/lang',
      'GET /api/lang',
    ]);
  });

  test('HEAD is the GET it is answered from', async () => {
    const app = make();
    const seen: unknown[] = [];
    app.get('/', (req, res) => {
      seen.push(endpointOf(req));
      res.end();
    });
    await endpointsOf(app, 'HEAD /', 'GET /');
    expect(seen).toEqual(['GET /', 'GET /']);
  });

  test('there is none before a route, nor where a router is called by hand', async () => {
    const app = make();
    const hidden: Router = make.Router();
    hidden.get('/x', tell);
    app.use('/hidden', (req, res, next) => hidden(req, res, next));
    app.use(tell);
    expect(await endpointsOf(app, 'GET /hidden/x', 'GET /elsewhere')).toEqual(['none', 'none']);
  });
});
