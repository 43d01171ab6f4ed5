import { expect, test } from 'vitest';
import { ResponseCounter } from '../src/http-load/response-counter.js';

const response = (status: string, body: string, header = 'Content-Length'): string =>
  `HTTP/1.1 ${status}\r\nDate: now\r\n${header}: ${Buffer.byteLength(body)}\r\nVary: *\r\n\r\n${body}`;

function count(stream: Buffer, size: number): number[] {
  const statuses: number[] = [];
  const counter = new ResponseCounter((status) => statuses.push(status));
  for (let at = 0; at < stream.length; at += size) counter.read(stream.subarray(at, at + size));
  return statuses;
}

test('every response is counted once by its status, wherever the stream is cut', () => {
  const stream = Buffer.from(
    [
      response('200 OK', '{"hello":"wörld"}'),
      response('204 No Content', ''),
      response('429 Too Many Requests', 'HTTP/1.1 200 OK\r\n\r\n', 'content-length'),
      response('200 OK', 'x'.repeat(100)),
    ].join(''),
  );
  for (let size = 1; size <= stream.length; size++) {
    expect(count(stream, size)).toEqual([200, 204, 429, 200]);
  }
});

test('a response counts when its last byte has arrived', () => {
  const stream = Buffer.from(response('200 OK', 'hello'));
  expect(count(stream.subarray(0, -1), stream.length)).toEqual([]);
});

test.each([
  ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', 'Transfer-Encoding'],
  ['HTTP/2 200\r\nContent-Length: 0\r\n\r\n', 'HTTP/2 200'],
  [`${response('200 OK', 'abc')}de\r\n\r\n`, 'de'],
])('what cannot be counted is refused: %j', (stream, shown) => {
  expect(() => count(Buffer.from(stream), stream.length)).toThrow(shown);
});
