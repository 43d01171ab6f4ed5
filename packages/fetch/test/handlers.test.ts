import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { rateLimit, withRateLimit } from '../src/index.js';

const ONE = { limit: 1, window: '1h', key: () => 'ann' } as const;
const ask = (init?: RequestInit): Request => new Request('http://a.example/', init);

test('without an address, a key or keys it is refused at once', () => {
  expect(() => rateLimit({ limit: 1, window: '1h' })).toThrow(
    /^addressOf must be a function of the request and its context, where there is no key/,
  );
  expect(() => rateLimit({ ...ONE, addressOf: 'ip' as never })).toThrow(/addressOf .* "ip"/);
});

test('F-08 a request and no response: allow, deny, no exception', async () => {
  const limit = rateLimit(ONE);
  expect((await limit(ask())).denied).toBeUndefined();
  expect((await limit(ask())).denied?.status).toBe(429);
});

test('a Next.js route: params go through, immutable responses get the headers', async () => {
  interface Params {
    readonly params: Promise<{ id: string }>;
  }
  const GET = withRateLimit(
    {
      limit: 1,
      window: '1h',
      addressOf: (request) => request.headers.get('x-real-ip') ?? undefined,
    },
    async (_: Request, { params }: Params) =>
      Response.redirect(`http://a.example/${(await params).id}`, 302),
  );
  const call = () =>
    GET(ask({ headers: { 'x-real-ip': '192.0.2.1' } }), { params: Promise.resolve({ id: '7' }) });
  const moved = await call();
  expect([moved.status, moved.headers.get('location')]).toEqual([302, 'http://a.example/7']);
  expect(moved.headers.get('ratelimit')).toBe('"default";r=0;t=3600');
  expect((await call()).status).toBe(429);
});

test('one response for all requests is told of once, a network error is passed on', async () => {
  const shared = new Response(null, { status: 204 });
  const same = withRateLimit({ ...ONE, limit: 9 }, () => shared);
  await same(ask());
  expect((await same(ask())).headers.get('ratelimit')).toMatch(/^"default";r=7;t=\d+$/);
  const broken = Response.error();
  expect(await withRateLimit(ONE, () => broken)(ask())).toBe(broken);
});

test('headers about the strictest are those of the inner limiter where it is stricter', async () => {
  const headers = 'legacy-delta';
  const inner = withRateLimit({ ...ONE, headers }, () => new Response('ok'));
  const response = await withRateLimit({ ...ONE, headers, name: 'outer', limit: 9 }, inner)(ask());
  expect(response.headers.get('x-ratelimit-limit')).toBe('1');
});

test('body error: the denial is thrown, with its headers', async () => {
  const limited = withRateLimit({ ...ONE, limit: 0, body: 'error' }, () => new Response());
  const error = await limited(ask()).catch((thrown) => thrown);
  expect(error).toMatchObject({ name: 'DeniedError', status: 429 });
  expect(error.headers).toHaveProperty('RateLimit');
});

/** The statuses that `settle` is told of. */
function watched(handler: () => Response) {
  const settle = vi.fn(() => undefined);
  const limited = withRateLimit({ ...ONE, settle }, handler);
  const statuses = async () => {
    await turn();
    return settle.mock.calls.map(([end]: unknown[]) => end);
  };
  return { limited, statuses };
}

test('a response has ended when its body was read, or given up', async () => {
  const whole = watched(() => new Response('ok', { status: 201 }));
  const response = await whole.limited(ask());
  expect(await whole.statuses()).toEqual([]);
  expect(await response.text()).toBe('ok');
  expect(await whole.statuses()).toEqual([{ status: 201 }]);
  const cut = watched(() => new Response('ok'));
  await (await cut.limited(ask())).body?.cancel();
  expect(await cut.statuses()).toEqual([{ status: undefined }]);
});

test('a client that goes away has not waited: its signal says so', async () => {
  const client = new AbortController();
  const gone = watched(() => new Response('ok'));
  await gone.limited(ask({ signal: client.signal }));
  client.abort();
  expect(await gone.statuses()).toEqual([{ status: undefined }]);
});

test('a handler that throws counts as 500, a Response that is thrown as itself', async () => {
  const failing = watched(() => {
    throw new Error('not today');
  });
  await expect(failing.limited(ask())).rejects.toThrow('not today');
  expect(await failing.statuses()).toEqual([{ status: 500 }]);
  const thrown = watched(() => {
    throw new Response(null, { status: 404 });
  });
  const response = await thrown.limited(ask()).catch((found) => found);
  expect(response.headers.get('ratelimit')).toBe('"default";r=0;t=3600');
  expect(await thrown.statuses()).toEqual([{ status: 404 }]);
});
