import { reasonOf } from './body.js';
import type { Verdict } from './gate.js';

/** What is done to the socket that Node's server gives with `upgrade`. */
export interface UpgradeSocket {
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(data: Uint8Array, callback?: () => void): unknown;
  destroy(): unknown;
}

/**
 * Answers a request to upgrade, such as that of a WebSocket, by the refusal of its verdict, and closes
 * the connection: there is no response object to write to, as the app's middleware never runs there.
 * With `body: 'error'` the body is empty. A client that has gone meanwhile is no error.
 *
 * @returns true where the request was refused; false where it goes ahead: nothing was written then
 */
export function refuseUpgrade(socket: UpgradeSocket, verdict: Verdict | undefined): boolean {
  const refusal = verdict?.refusal;
  if (verdict === undefined || refusal === undefined) return false;
  // Node leaves the errors of such a socket to its taker; without one the process would end.
  socket.on('error', () => socket.destroy());
  const body = Buffer.from(refusal.body);
  const headers = [...verdict.headers.append, ...verdict.headers.replace, ...refusal.headers];
  const head = [
    `HTTP/1.1 ${refusal.status} ${reasonOf(refusal)}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  // Closed at once on both sides: a client that keeps its own open would hold the socket.
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]), () =>
    socket.destroy(),
  );
  return true;
}
