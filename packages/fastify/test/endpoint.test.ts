import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { endpointOf } from '../src/index.js';

test('endpointOf is the methods and pattern of the route, in every hook', async () => {
  const app = fastify({ routerOptions: { caseSensitive: false, ignoreTrailingSlash: true } });
  const seen: unknown[] = [];
  app.addHook('onRequest', async (request) => void seen.push(endpointOf(request)));
  app.post('/lang', async () => 'ok');
  app.route({ method: ['PUT', 'POST'], url: '/both', handler: async () => 'ok' });
  app.all('/all', async () => 'ok');
  app.register(
    async (users) => {
      users.get('/codes/:code', async () => 'ok');
    },
    { prefix: '/users/:user' },
  );
  const requests = [
    ['POST', '/lang', 'POST /lang'],
    ['POST', '/LANG/', 'POST /lang'],
    ['POST', '/%6Cang', 'POST /lang'],
    ['PUT', '/both', 'POST,PUT /both'],
    ['POST', '/both', 'POST,PUT /both'],
    ['DELETE', '/all', '* /all'],
    ['GET', '/users/1/codes/a', 'GET /users/:user/codes/:code'],
    ['GET', '/users/2/codes/b', 'GET /users/:user/codes/:code'],
    ['HEAD', '/users/3/codes/c', 'GET /users/:user/codes/:code'],
    ['GET', '/nowhere', undefined],
  ] as const;
  for (const [method, url] of requests) await app.inject({ method, url });
  expect(seen).toEqual(requests.map(([, , endpoint]) => endpoint));
  await app.close();
});
