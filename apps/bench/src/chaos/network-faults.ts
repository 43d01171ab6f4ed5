import type { FaultProxy, ProxyDelay } from '@rl/testkit';
import { again, type Fault } from './fault.js';
import type { Field } from './field.js';

/** What goes wrong on the way to the server, for all replicas where nothing else is said. */
export const NETWORK_FAULTS: readonly Fault[] = [
  { name: 'slow', begin: delayed({ toClientMs: 2 }) },
  { name: 'too-slow', begin: delayed({ toServerMs: 10, toClientMs: 10 }) },
  { name: 'black-hole', begin: ({ proxies }) => blackHole(proxies) },
  // One replica alone has no way to the server, which decides for the others meanwhile.
  { name: 'partition', begin: ({ proxies }) => blackHole(proxies.slice(0, 1)) },
  {
    name: 'cut',
    begin: async ({ proxies }) =>
      again(200, () => {
        for (const proxy of proxies) proxy.cut();
      }),
  },
  {
    // What the server decided is not heard, and the connection is gone.
    name: 'lost-replies',
    begin: async ({ proxies }) =>
      again(250, () => {
        for (const proxy of proxies) void proxy.cutBeforeReply();
      }),
  },
  {
    name: 'refuse',
    async begin({ proxies }) {
      await Promise.all(proxies.map((proxy) => proxy.refuse()));
      return () => Promise.all(proxies.map((proxy) => proxy.accept()));
    },
  },
];

function delayed(delay: ProxyDelay): Fault['begin'] {
  const set = ({ proxies }: Field, now: ProxyDelay): void => {
    for (const proxy of proxies) proxy.delay(now);
  };
  return async (field) => {
    set(field, delay);
    return async () => set(field, {});
  };
}

async function blackHole(proxies: readonly FaultProxy[]): Promise<() => Promise<void>> {
  for (const proxy of proxies) proxy.blackhole();
  return async () => {
    for (const proxy of proxies) proxy.heal();
  };
}
