import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { RedisConnection } from '@rl/testkit';

/** A way to a real Redis on which calls of scripts can be answered with an error instead. */
export interface ErringServer {
  readonly port: number;
  /** Answers EVAL and EVALSHA so from now on: `LOADING Redis is loading`. Undefined: no more. */
  trouble: string | undefined;
  close(): Promise<void>;
}

/** For replies that a real server gives only in states that are hard to bring about. */
export async function startErringServer(target: RedisConnection): Promise<ErringServer> {
  const sockets = new Set<Socket>();
  const listener = createServer({ noDelay: true });
  const erring: ErringServer = {
    get port() {
      return (listener.address() as AddressInfo).port;
    },
    trouble: undefined,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
  listener.on('connection', (client) => {
    const server = connect({ host: target.host ?? '127.0.0.1', port: target.port ?? 6379 });
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    server.pipe(client);
    let held = Buffer.alloc(0);
    client.on('data', (bytes) => {
      held = Buffer.concat([held, bytes]);
      for (let size = requestSize(held); size > 0; size = requestSize(held)) {
        const request = held.subarray(0, size);
        held = held.subarray(size);
        const isScript = /^\*\d+\r\n\$\d+\r\neval(sha)?\r\n/i.test(request.toString('latin1'));
        if (erring.trouble !== undefined && isScript) client.write(`-${erring.trouble}\r\n`);
        else server.write(request);
      }
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return erring;
}

/** Bytes of the request at the beginning: an array of bulk texts; 0 where it is not all there. */
function requestSize(bytes: Buffer): number {
  const lineEnd = (from: number) => bytes.indexOf('\r\n', from);
  const numberAt = (from: number) => Number(bytes.toString('latin1', from + 1, lineEnd(from)));
  if (lineEnd(0) < 0) return 0;
  let at = lineEnd(0) + 2;
  for (let left = numberAt(0); left > 0; left--) {
    if (lineEnd(at) < 0) return 0;
    at = lineEnd(at) + 2 + numberAt(at) + 2;
  }
  return at <= bytes.length ? at : 0;
}
