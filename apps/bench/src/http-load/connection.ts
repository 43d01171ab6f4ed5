import { connect, type Socket } from 'node:net';
import { ResponseCounter } from './response-counter.js';

/** One connection to a server on this machine, over which requests go as bytes. */
export interface Connection {
  write(requests: Buffer): void;
  close(): void;
}

/** What is heard on a connection. */
export interface Listener {
  /** One response has arrived whole. */
  answered(status: number): void;
  /** No more will arrive: the server closed the connection, or answered with something else. */
  failed(error: Error): void;
}

/** Opens a connection. Of what goes wrong later `failed` is told once. */
export async function openConnection(port: number, listener: Listener): Promise<Connection> {
  const socket = await open(port);
  const counter = new ResponseCounter((status) => listener.answered(status));
  let closed = false;
  const fail = (error: Error): void => {
    if (closed) return;
    closed = true;
    socket.destroy();
    listener.failed(error);
  };
  socket.on('data', (chunk: Buffer) => {
    try {
      counter.read(chunk);
    } catch (error) {
      fail(error as Error);
    }
  });
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed the connection')));
  return {
    write: (requests) => void socket.write(requests),
    close() {
      closed = true;
      socket.destroy();
    },
  };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
