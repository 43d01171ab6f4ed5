import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../src/limiter/limiter.js';
import type { StatusPageOptions } from '../../src/status/options.js';
import { SCRIPT } from '../../src/status/script.js';
import { type StatusAnswer, StatusPage } from '../../src/status/status-page.js';

const HOSTILE = '</script><img src=x onerror=alert(1)>"\'&';

function busyLimiter() {
  const limiter = createLimiter({
    policies: { api: { limit: 2, window: '1m' }, search: { limit: 5, window: '10s', burst: 9 } },
  });
  for (let i = 0; i < 5; i++) limiter.tryConsume({ api: HOSTILE });
  return limiter;
}

function open(options: Partial<StatusPageOptions<string>> = {}) {
  const page = new StatusPage<string>({ limiters: busyLimiter(), allow: () => true, ...options });
  return (path: string, headers: Record<string, string> = {}, method = 'GET', mount = '/rl') =>
    page.answer('request', { method, path, mount, header: (name) => headers[name] });
}

describe('the status page', () => {
  it('is HTML with hostile keys as text, and with addresses of its mount', async () => {
    const { status, headers, body } = await open({
      limiters: { [HOSTILE]: busyLimiter(), other: busyLimiter() },
      showKeys: true,
    })('/rl');
    expect(status).toBe(200);
    expect(headers['Content-Type']).toBe('text/html; charset=utf-8');
    expect(body).not.toContain('<img');
    const escaped = '&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;';
    expect(body).toContain(`<th scope="row">${escaped}</th>`);
    expect(body).toContain(`Limiter ${escaped}</h2>`);
    expect(body).toContain('href="/rl/status.css"');
    expect(body).toContain('src="/rl/status.js"');
    expect(body).toContain('<option data-limiter="1">search</option>');
    expect(body).toContain('<small>burst 9</small>');
  });

  it.each([
    ['//evil.example/rl', 'href="/evil.example/rl/status.css"'],
    ['/\\evil.example', 'href="/evil.example/status.css"'],
    ['/"><script>', 'href="/&quot;&gt;&lt;script&gt;/status.css"'],
    ['', 'href="/status.css"'],
  ])('mounted at %j, leads nowhere else', async (mount, link) => {
    expect((await open()(`${mount}/`, {}, 'GET', mount)).body).toContain(link);
  });

  it('masks keys alike in lists and answers, and shows none', async () => {
    const ask = open();
    const facts = (await ask('/rl/facts')).body;
    expect((await ask('/rl')).body + facts).not.toContain('onerror');
    const [api] = JSON.parse(facts).facts.limiters[0].policies;
    const [{ key, count }] = api.top.denied;
    expect(key).toMatch(/^<\/…[0-9a-f]{6}$/);
    expect(count).toBe(3);
    expect(api).toMatchObject({ limit: '2 per 1m', outcomes: { allowed: 2, denied: 3 }, total: 5 });
    const headers = { 'rl-policy': 'api', 'rl-key': encodeURIComponent(HOSTILE) };
    const answer = JSON.parse((await ask('/rl/explain', headers)).body);
    expect(answer.masked).toBe(key);
    expect(answer.answer).toMatch(/^Denied: 0 of 2 permits are left under policy api\./);
    expect(answer.facts['Denials noted here']).toBe('3');
  });

  it('marks a key too long to be kept as well', async () => {
    const limiter = createLimiter({ policies: { api: { limit: 0, window: '1m' } } });
    const key = 'k'.repeat(5000);
    limiter.tryConsume({ api: key });
    const ask = open({ limiters: limiter, showKeys: true });
    const { rows } = JSON.parse((await ask('/rl/facts')).body);
    const { masked } = JSON.parse((await ask('/rl/explain', { 'rl-key': key })).body);
    expect(rows['0.0.denied']).toEqual([[masked, '1']]);
  });

  it.each(['/rl', '/rl/', '/rl/status.css', '/rl/status.js', '/rl/facts', '/rl/explain', '/rl/x'])(
    'locks %s, and lets nothing be kept or framed',
    async (path) => {
      const check = ({ headers }: StatusAnswer): void => {
        expect(headers).toMatchObject({
          'Cache-Control': 'no-store',
          'Referrer-Policy': 'no-referrer',
          'X-Content-Type-Options': 'nosniff',
        });
        expect(headers['Content-Security-Policy']).toMatch(
          /^default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; /,
        );
      };
      check(await open()(path));
      const refusals: StatusPageOptions<string>['allow'][] = [
        () => false,
        async () => false,
        () => 'yes' as never,
      ];
      for (const allow of refusals) {
        const refused = await open({ allow })(path);
        expect(refused).toMatchObject({ status: 403, body: 'Forbidden' });
        check(refused);
      }
      expect((await open({ allow: async () => true })(path)).status).not.toBe(403);
      const failing = async () => {
        throw new Error('no session');
      };
      await expect(open({ allow: failing })(path)).rejects.toThrow('no session');
    },
  );

  it.each([
    ['GET', '/rl/', 200],
    ['HEAD', '/rl', 200],
    ['GET', '/rl/nothing', 404],
    ['GET', '/rl/facts/', 404],
    ['GET', '/rlx', 404],
    ['POST', '/rl/nothing', 404],
    ['POST', '/rl', 405],
    ['DELETE', '/rl/explain', 405],
  ])('answers %s %s with %d', async (method, path, status) => {
    const answer = await open()(path, {}, method);
    expect(answer.status).toBe(status);
    expect(answer.headers.Allow).toBe(status === 405 ? 'GET, HEAD' : undefined);
  });

  it.each([
    ['rl-limiter', {}],
    ['rl-limiter', { 'rl-limiter': 'c' }],
    ['rl-policy', { 'rl-limiter': 'a' }],
    ['rl-policy', { 'rl-limiter': 'a', 'rl-policy': 'toString' }],
    ['rl-key', { 'rl-limiter': 'a', 'rl-policy': 'api' }],
    ['rl-key', { 'rl-limiter': 'a', 'rl-policy': 'api', 'rl-key': '%E0' }],
    ['rl-cost', { 'rl-limiter': 'a', 'rl-policy': 'api', 'rl-key': 'k', 'rl-cost': '1.5' }],
    ['rl-cost', { 'rl-limiter': 'a', 'rl-policy': 'api', 'rl-key': 'k', 'rl-cost': '-1' }],
    [
      'rl-cost',
      { 'rl-limiter': 'a', 'rl-policy': 'api', 'rl-key': 'k', 'rl-cost': '9'.repeat(20) },
    ],
  ])('refuses a bad %s: %j', async (field, headers) => {
    const ask = open({ limiters: { a: busyLimiter(), b: busyLimiter() } });
    const { status, body } = await ask('/rl/explain', headers as Record<string, string>);
    expect(status).toBe(400);
    expect(JSON.parse(body).error).toMatch(new RegExp(`^${field} must be `));
  });

  it('of a limiter that counts nothing, says that', async () => {
    const policies = { api: { limit: 1, window: '1m' } };
    const limiters = createLimiter({ policies, metrics: false });
    expect((await open({ limiters })('/rl')).body).toContain('not counted');
  });

  it('explains a key under the values that the app puts in place for it', async () => {
    const asked: string[][] = [];
    const policies = async (policy: string, key: string) => {
      asked.push([policy, key]);
      return { [policy]: { limit: 20 } };
    };
    const headers = { 'rl-policy': 'api', 'rl-key': 'bob' };
    const { answer } = JSON.parse((await open({ policies })('/rl/explain', headers)).body);
    expect(answer).toContain('20 of 20 permits are left under policy api');
    expect(asked).toEqual([['api', 'bob']]);
  });

  it.each<[string, unknown]>([
    ['options must be', undefined],
    ['allow must be a function', { limiters: busyLimiter() }],
    ['limiters must be a limiter', { allow: () => true }],
    ['limiters must be at least one', { allow: () => true, limiters: {} }],
    ['limiters.a must be a limiter', { allow: () => true, limiters: { a: {} } }],
    ['policies must be a function', { allow: () => true, limiters: busyLimiter(), policies: 1 }],
    ['showKeys must be', { allow: () => true, limiters: busyLimiter(), showKeys: 1 }],
    ['keys is not an option', { allow: () => true, limiters: busyLimiter(), keys: 1 }],
  ])('is not made where %s', (message, options) => {
    expect(() => new StatusPage(options as never)).toThrow(message);
  });

  it('has a script that is JavaScript, and that writes text alone', () => {
    expect(() => new Script(SCRIPT)).not.toThrow();
    expect(SCRIPT).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval/);
  });
});
