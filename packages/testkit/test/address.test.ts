import { expect, test } from 'vitest';
import { byWayOf, parseRedisUrl, withoutPassword } from '../src/address.js';

test.each([
  ['redis://localhost', { host: 'localhost', port: 6379 }],
  ['redis://127.0.0.1:7001/3', { host: '127.0.0.1', port: 7001, db: 3 }],
  ['redis://[::1]:7001', { host: '::1', port: 7001 }],
  ['redis://:p%40ss@h:1', { host: 'h', port: 1, password: 'p@ss' }],
  ['rediss://me:secret@h', { host: 'h', port: 6379, username: 'me', password: 'secret', tls: {} }],
  ['/run/redis.sock', { path: '/run/redis.sock' }],
])('%s', (url, connection) => {
  expect(parseRedisUrl(url, 'REDIS_URL')).toEqual({ url, connection });
});

test.each([
  ['redis://me:secret@h:1', 'redis://me:***@h:1'],
  ['redis://:secret@h:1', 'redis://:***@h:1'],
  ['redis://h:1', 'redis://h:1'],
])('%s is shown without its password', (url, shown) => {
  expect(withoutPassword(url)).toBe(shown);
});

test.each([
  ['/run/redis.sock', 'redis://127.0.0.1:1'],
  ['redis://h:7001/3', 'redis://127.0.0.1:1/3'],
  ['redis://:p%40ss@h', 'redis://:p%40ss@127.0.0.1:1'],
  ['redis://me:secret@h/0', 'redis://me:secret@127.0.0.1:1/0'],
  ['rediss://me:secret@h', 'rediss://me:secret@127.0.0.1:1'],
])('%s by way of another port is %s', (url, other) => {
  const { connection } = parseRedisUrl(url, 'REDIS_URL');
  expect(byWayOf(connection, '127.0.0.1', 1)).toEqual(parseRedisUrl(other, 'REDIS_URL'));
});
