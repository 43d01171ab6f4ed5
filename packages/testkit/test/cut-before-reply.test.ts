import { once } from 'node:events';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startFaultProxy, startRedis } from '../src/index.js';
import { useProxy, watch } from './use-proxy.js';

const setting = useProxy();

const isIncr = (request: Buffer): boolean => /incr/i.test(request.toString());

// The trap: ioredis sends again what was not answered, and the server cannot tell.
test.each([
  [false, '1'],
  [true, '2'],
])('with autoResendUnfulfilledCommands %s an INCR counts %s', async (resend, count) => {
  const client = await setting.throughProxy({ autoResendUnfulfilledCommands: resend });
  const lost = once(client, 'close');
  const cut = setting.proxy.cutBeforeReply(isIncr);
  const reply = watch(client.incr(setting.key));
  await cut;
  expect(await setting.direct.get(setting.key)).toBe('1');
  expect(reply.settled).toBe(false);
  await lost;
  // Sent again or not, that was before this one.
  expect(await client.get(setting.key)).toBe(count);
  expect(reply.settled).toBe(resend);
  expect(setting.proxy.counters).toMatchObject({ connections: 2, cuts: 1 });
});

test('only a request that matches is cut off, in whatever connection it comes', async () => {
  const [one, other] = [await setting.throughProxy(), await setting.throughProxy()];
  const cut = setting.proxy.cutBeforeReply(isIncr);
  const watched = watch(cut);
  expect(await one.echo('not yet')).toBe('not yet');
  expect(await other.get(setting.key)).toBeNull();
  expect(watched.settled).toBe(false);
  const lost = once(other, 'close');
  const reply = other.incr(setting.key);
  await Promise.all([cut, lost]);
  expect(await one.get(setting.key)).toBe('1');
  expect(await reply).toBe(2);
  expect(setting.proxy.counters.cuts).toBe(1);
});

test('by default any request will do', async () => {
  const client = await setting.throughProxy();
  const [reply] = await Promise.all([client.incr(setting.key), setting.proxy.cutBeforeReply()]);
  expect(reply).toBe(2);
});

test('a pipeline is executed as a whole and answered not at all', async () => {
  const client = await setting.throughProxy({ autoResendUnfulfilledCommands: false });
  const cut = setting.proxy.cutBeforeReply(isIncr);
  const before = setting.proxy.counters.bytesToClient;
  const replies = [
    client.incr(setting.key),
    client.incr(setting.key),
    client.incr(setting.key),
  ].map(watch);
  const pipeline = watch(client.pipeline().incr(setting.key).incr(setting.key).exec());
  await cut;
  expect(await setting.direct.get(setting.key)).toBe('5');
  expect([...replies, pipeline].map(({ settled }) => settled)).toEqual(Array(4).fill(false));
  expect(setting.proxy.counters.bytesToClient).toBe(before);
});

test('all that was sent is executed by then, though the server replied to its beginning', async () => {
  const client = await setting.throughProxy({ autoResendUnfulfilledCommands: false });
  const before = setting.proxy.counters.bytesToServer;
  await client.incr(setting.key);
  const bytesEach = setting.proxy.counters.bytesToServer - before;
  const cut = setting.proxy.cutBeforeReply(isIncr);
  // Redis reads 16 kB at a time and replies to each before it goes on.
  const pipeline = client.pipeline();
  for (let n = 0; n < 10_000; n += 1) pipeline.incr(setting.key);
  watch(pipeline.exec());
  await cut;
  const sent = Math.floor((setting.proxy.counters.bytesToServer - before) / bytesEach);
  expect(await setting.direct.get(setting.key)).toBe(String(sent));
  expect(sent * bytesEach).toBeGreaterThan(2 * 16_384);
});

test('a reply that had arrived is delivered before the cut, however long it takes', async () => {
  const client = await setting.throughProxy({ autoResendUnfulfilledCommands: false });
  setting.proxy.delay({ toClientMs: 50 });
  const before = setting.proxy.counters.bytesToServer;
  const earlier = client.get(setting.key);
  await setting.until(() => setting.proxy.counters.bytesToServer > before);
  await setting.readByProxy();
  const cut = setting.proxy.cutBeforeReply(isIncr);
  const reply = watch(client.incr(setting.key));
  await cut;
  expect(await earlier).toBeNull(); // of before the INCR, and never asked again
  expect(reply.settled).toBe(false);
});

test('two calls cut two connections, one after the other', async () => {
  const client = await setting.throughProxy();
  const cuts = [setting.proxy.cutBeforeReply(isIncr), setting.proxy.cutBeforeReply(isIncr)];
  expect(await client.incr(setting.key)).toBe(3);
  await Promise.all(cuts);
  expect(setting.proxy.counters).toMatchObject({ connections: 3, cuts: 2 });
});

test('a server that dies without a reply is not a decision', async () => {
  const server = await startRedis();
  const toServer = await startFaultProxy(server);
  const client = new Redis({ ...toServer.connection, retryStrategy: () => null });
  await once(client, 'ready');
  await server.pause();
  const cut = toServer.cutBeforeReply(isIncr);
  const { bytesToServer } = toServer.counters;
  const reply = client.incr(setting.key);
  const [replyFails, cutFails] = [
    expect(reply).rejects.toThrow('Connection is closed'),
    expect(cut).rejects.toThrow('ended before the reply'),
  ];
  await setting.until(() => toServer.counters.bytesToServer > bytesToServer);
  await server.kill();
  await Promise.all([replyFails, cutFails]);
  await Promise.all([toServer.close(), server.close()]);
});

test('fails where the proxy is closed first', async () => {
  const cut = setting.proxy.cutBeforeReply(isIncr);
  await setting.proxy.close();
  await expect(cut).rejects.toThrow('cutBeforeReply: the proxy was closed');
});
