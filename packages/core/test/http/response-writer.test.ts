import { EventEmitter, once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import { connect, constants, createServer as createServer2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { ResponseEnd } from '../../src/http/after-response.js';
import type { Denial } from '../../src/http/denial.js';
import { DeniedError } from '../../src/http/denied-error.js';
import type { Verdict } from '../../src/http/gate.js';
import {
  appendToField,
  type NodeResponse,
  type ResponseWriter,
  watchResponse,
  writeHeaders,
} from '../../src/http/response-writer.js';

describe('appendToField', () => {
  it.each([
    [undefined, 'b'],
    ['', 'b'],
    ['a', 'a, b'],
    [7, '7, b'],
    [['x', 'y'], 'x,y, b'],
  ])('%s', (before, field) => {
    expect(appendToField(before, 'b')).toBe(field);
  });
});

describe('writeHeaders', () => {
  const WRITER: ResponseWriter<Map<string, string>> = {
    get: (response, name) => response.get(name),
    set: (response, name, value) => void response.set(name, value),
  };
  const HEADERS = { append: [['List', 'b']], replace: [['One', '2']] } as const;
  const DENIAL = { status: 429, detail: 'no' } as Denial;

  function written(refusal: Verdict['refusal']): Map<string, string> {
    const response = new Map([
      ['List', 'a'],
      ['One', '1'],
      ['Other', 'stays'],
    ]);
    const verdict = { decision: undefined, headers: HEADERS, refusal, onEnd: undefined };
    writeHeaders(verdict, response, WRITER);
    return response;
  }

  it('appends to lists and replaces the others', () => {
    expect(Object.fromEntries(written(undefined))).toEqual({
      List: 'a, b',
      One: '2',
      Other: 'stays',
    });
  });

  it('a refusal has headers of its own, which come last', () => {
    const headers = [
      ['Retry-After', '7'],
      ['One', '3'],
    ] as const;
    const refusal = { status: 429, headers, body: '', error: undefined } as const;
    expect(Object.fromEntries(written(refusal))).toEqual({
      List: 'a, b',
      One: '3',
      Other: 'stays',
      'Retry-After': '7',
    });
  });

  it('H-05 an error has all that was written, with what stood before in lists', () => {
    const error = new DeniedError(DENIAL);
    written({ status: 429, headers: [['Retry-After', '7']], body: '', error });
    expect(error.headers).toEqual({ List: 'a, b', One: '2', 'Retry-After': '7' });
  });
});

/** A response that is over as the test says. */
class Fake extends EventEmitter implements NodeResponse {
  statusCode = 200;
  writableFinished = false;
  destroyed = false;
}

describe('watchResponse', () => {
  function watched(response: NodeResponse): ResponseEnd[] {
    const ends: ResponseEnd[] = [];
    watchResponse(response, (end) => void ends.push(end));
    return ends;
  }

  it('F-07 tells of an end once, whatever else is told of it', () => {
    const whole = new Fake();
    const ends = watched(whole);
    whole.statusCode = 503;
    for (const event of ['finish', 'close', 'finish', 'close']) whole.emit(event);
    expect(ends).toEqual([{ status: 503 }]);

    const left = new Fake();
    const aborted = watched(left);
    for (const event of ['close', 'finish', 'close']) left.emit(event);
    expect(aborted).toEqual([{ status: undefined }]);
  });

  it('with nothing to tell it listens to nothing', () => {
    const response = new Fake();
    watchResponse(response, undefined);
    expect(response.eventNames()).toEqual([]);
  });

  it.each([
    ['whole, and closed', true, true, { status: 200 }],
    ['whole, and not yet closed', true, false, { status: 200 }],
    ['aborted', false, true, { status: undefined }],
  ])('a response that is over is told of at once: %s', (_, finished, destroyed, end) => {
    const response = Object.assign(new Fake(), { writableFinished: finished, destroyed });
    expect(watched(response)).toEqual([end]);
    expect(response.eventNames()).toEqual([]);
  });

  it.each([
    ['whole', true, { destroyed: true, aborted: false }, { status: 200 }],
    ['aborted', true, { destroyed: true, aborted: true }, { status: undefined }],
    ['not handed over', false, { destroyed: true, aborted: false }, { status: undefined }],
    ['gone', false, undefined, { status: undefined }],
  ])('an HTTP/2 response that is over is told of at once: %s', (_, finished, stream, end) => {
    const response = Object.assign(new Fake(), { writableFinished: finished, stream });
    expect(watched(response)).toEqual([end]);
  });

  it('an HTTP/2 response that was handed over and whose stream is open is waited for', () => {
    const stream = { destroyed: false, aborted: false };
    const response = Object.assign(new Fake(), { writableFinished: true, stream });
    const ends = watched(response);
    expect(ends).toEqual([]);
    response.emit('finish');
    expect(ends).toEqual([{ status: 200 }]);
  });

  /** What is told of a response, and again by who asks when it is over. */
  function watchTwice(response: ServerResponse | NodeResponse, ends: unknown[]): void {
    watchResponse(response as NodeResponse, (end) => {
      ends.push(end.status);
      setImmediate(() => watchResponse(response as NodeResponse, (late) => ends.push(late.status)));
    });
  }

  it('F-07 of http: whole, and left by the client', async () => {
    const ends: unknown[] = [];
    const server = createServer((req, res) => {
      watchTwice(res, ends);
      if (req.url !== '/waits') res.writeHead(404).end('none');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const target = { host: '127.0.0.1', port, agent: false } as const;
    try {
      const [answer] = await once(request({ ...target, path: '/' }).end(), 'response');
      answer.resume();
      await vi.waitUntil(() => ends.length === 2, { interval: 1 });
      const leaving = request({ ...target, path: '/waits' });
      leaving.on('error', () => {}).end();
      await once(server, 'request');
      leaving.destroy();
      await vi.waitUntil(() => ends.length === 4, { interval: 1 });
    } finally {
      server.close();
    }
    expect(ends).toEqual([404, 404, undefined, undefined]);
  });

  it('F-07 of http2: whole, without a body, and left by the client at any moment', async () => {
    const ends: unknown[] = [];
    const server = createServer2((req, res) => {
      watchTwice(res as unknown as NodeResponse, ends);
      if (req.url === '/whole') res.end('whole');
      if (req.url === '/empty') res.writeHead(204).end();
      if (req.url === '/begun') res.write('begun');
      // More than a stream takes before the client reads.
      if (req.url === '/large') res.end('x'.repeat(5_000_000));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = connect(`http://127.0.0.1:${port}`);
    const told: Record<string, unknown[]> = {};
    try {
      for (const path of ['/whole', '/empty', '/waits', '/begun', '/large']) {
        const stream = client.request({ ':path': path });
        stream.on('error', () => {});
        if (path === '/whole' || path === '/empty') stream.resume();
        else {
          await once(server, 'request');
          stream.close(constants.NGHTTP2_CANCEL);
        }
        await vi.waitUntil(() => ends.length === 2, { interval: 1 });
        told[path] = ends.splice(0);
      }
    } finally {
      client.close();
      server.close();
    }
    expect(told).toEqual({
      '/whole': [200, 200],
      '/empty': [204, 204],
      '/waits': [undefined, undefined],
      '/begun': [undefined, undefined],
      '/large': [undefined, undefined],
    });
  });
});
