import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { freePort, onFreePort, PortTakenError } from '../src/free-port.js';

test('freePort names a port that can be bound', async () => {
  const port = await freePort();
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  await new Promise((resolve) => server.close(resolve));
  expect(port).toBeGreaterThan(0);
});

describe('onFreePort', () => {
  /** Hands out 1, 2, 3 and so on. */
  function counting(): () => Promise<number> {
    let last = 0;
    return async () => ++last;
  }

  test('takes another port as long as the one it has is taken', async () => {
    const attempt = async (port: number): Promise<string> => {
      if (port < 3) throw new PortTakenError();
      return `on ${port}`;
    };
    expect(await onFreePort(attempt, counting())).toBe('on 3');
  });

  test('gives up after five, naming them', async () => {
    const attempt = async (): Promise<never> => {
      throw new PortTakenError();
    };
    await expect(onFreePort(attempt, counting())).rejects.toThrow('1, 2, 3, 4, 5');
  });

  test('passes any other failure on at once', async () => {
    const tried: number[] = [];
    const attempt = async (port: number): Promise<never> => {
      tried.push(port);
      throw new Error('out of memory');
    };
    await expect(onFreePort(attempt, counting())).rejects.toThrow('out of memory');
    expect(tried).toEqual([1]);
  });
});
