import { createServer } from 'node:net';

/** Another process took the port between our look and our use of it. */
export class PortTakenError extends Error {}

const ATTEMPTS = 5;

/** A port of 127.0.0.1 that was free a moment ago: found by binding port 0, then let go. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close((error) => {
        if (error) reject(error);
        else if (address === null || typeof address === 'string') {
          reject(new Error(`a TCP server has a strange address: ${address}`));
        } else resolve(address.port);
      });
    });
  });
}

/**
 * Runs `attempt` with a free port, and with another one each time it fails with
 * `PortTakenError`: five times in all. Any other failure is passed on at once.
 */
export async function onFreePort<T>(
  attempt: (port: number) => Promise<T>,
  pickPort: () => Promise<number> = freePort,
): Promise<T> {
  const taken: number[] = [];
  while (taken.length < ATTEMPTS) {
    const port = await pickPort();
    try {
      return await attempt(port);
    } catch (error) {
      if (!(error instanceof PortTakenError)) throw error;
      taken.push(port);
    }
  }
  throw new PortTakenError(`no free port: ${taken.join(', ')} were taken by others in turn`);
}
