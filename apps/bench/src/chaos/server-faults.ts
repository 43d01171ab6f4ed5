import { once } from 'node:events';
import { createServer } from 'node:net';
import { again, type Fault } from './fault.js';
import { RIGHTS, USER } from './field.js';

/** What goes wrong with the server itself. */
export const SERVER_FAULTS: readonly Fault[] = [
  {
    name: 'kill',
    losesBuckets: true,
    async begin({ server }) {
      await server.kill();
      return () => server.restart();
    },
  },
  {
    name: 'pause',
    async begin({ server }) {
      await server.pause();
      return () => server.resume();
    },
  },
  {
    name: 'script-flush',
    begin: async ({ command }) => again(100, () => command('SCRIPT', 'FLUSH')),
  },
  {
    name: 'memory',
    async begin({ command }) {
      await command('CONFIG', 'SET', 'maxmemory', 1);
      return () => command('CONFIG', 'SET', 'maxmemory', 0);
    },
  },
  {
    name: 'permission',
    async begin({ command }) {
      await command('ACL', 'SETUSER', USER, '-eval', '-evalsha');
      return () => command('ACL', 'SETUSER', USER, ...RIGHTS);
    },
  },
  {
    // Its connections are closed, and new ones cannot log in.
    name: 'no-user',
    async begin({ command }) {
      await command('ACL', 'DELUSER', USER);
      return () => command('ACL', 'SETUSER', USER, ...RIGHTS);
    },
  },
  {
    // It keeps its buckets, waits for a primary that is not there, and takes no writes.
    name: 'read-only',
    async begin({ command }) {
      await command('REPLICAOF', '127.0.0.1', await deadPort());
      return () => command('REPLICAOF', 'NO', 'ONE');
    },
  },
];

/** A port of this machine that nobody listens on. */
async function deadPort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
