/** The header that names the client of a request. */
export const CLIENT_HEADER = 'x-api-key';

/** `GET /` of the client, over a connection that stays open, as bytes. */
export function encodeRequest(client: string): Buffer {
  return Buffer.from(`GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n${CLIENT_HEADER}: ${client}\r\n\r\n`);
}
