import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type FaultProxy, randomPrefix, sharedRedis, startFaultProxy } from '../src/index.js';

/** What the tests of the proxy work with; proxy and key are new for each test. */
export interface ProxySetting {
  /** To the shared Redis, by way of which all that matters here can be seen. */
  readonly direct: Redis;
  readonly proxy: FaultProxy;
  readonly key: string;
  /** A client by way of the proxy, ready. */
  throughProxy(options?: { autoResendUnfulfilledCommands?: boolean }): Promise<Redis>;
  /** Resolves when `condition` holds; if it never does, the test runs into its time limit. */
  until(condition: () => boolean | Promise<boolean>): Promise<void>;
  /**
   * Resolves when the proxy has read what clients wrote before, and the server's replies to what
   * it forwarded: the event loops of both went round.
   */
  readByProxy(): Promise<void>;
}

/** A proxy to the shared Redis for each test of a file, closed after it with all its clients. */
export function useProxy(): ProxySetting {
  let direct: Redis;
  let proxy: FaultProxy;
  let key: string;
  const clients: Redis[] = [];

  beforeAll(async () => {
    direct = new Redis((await sharedRedis()).connection);
  });

  afterAll(() => direct.disconnect());

  beforeEach(async () => {
    proxy = await startFaultProxy(await sharedRedis());
    key = `${randomPrefix()}count`;
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.disconnect();
    await proxy.close();
    await direct.del(key);
  });

  return {
    get direct() {
      return direct;
    },
    get proxy() {
      return proxy;
    },
    get key() {
      return key;
    },
    async throughProxy(options = {}) {
      const client = new Redis({ ...proxy.connection, ...options });
      clients.push(client);
      client.on('error', () => {}); // the commands tell
      await once(client, 'ready');
      return client;
    },
    async until(condition) {
      while (!(await condition())) await direct.ping();
    },
    async readByProxy() {
      await direct.ping();
      await direct.ping();
    },
  };
}

/** Whether a promise has settled, at any later moment. */
export function watch(promise: Promise<unknown>): { readonly settled: boolean } {
  const watched = { settled: false };
  const note = (): void => {
    watched.settled = true;
  };
  promise.then(note, note);
  return watched;
}
