import { METHODS } from 'node:http';
import { expect, it } from 'vitest';
import { endpointName } from '../../src/http/endpoint.js';

it.each([
  [['GET'], 'GET /a'],
  [['HEAD'], 'GET /a'],
  [['HEAD', 'GET'], 'GET /a'],
  [['PUT', 'POST'], 'POST,PUT /a'],
  [['*'], '* /a'],
  [METHODS, '* /a'],
])('%j', (methods, name) => {
  expect(endpointName(methods, '/a')).toBe(name);
});

it('of methods with a handler each, the one that counts', () => {
  expect(endpointName(['GET', 'POST'], '/a', ['POST'])).toBe('POST /a');
  expect(endpointName(['GET', 'POST'], '/a', ['HEAD'])).toBe('GET /a');
  expect(endpointName(METHODS, '/a', ['POST'])).toBe('* /a');
});
