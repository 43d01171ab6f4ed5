import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sharedRedis } from '@rl/testkit';
import { describe, expect, test } from 'vitest';
import { ask } from './client.js';
import { parseField } from './fields.js';

/** Loaded before the example: prints the port of the server that it starts. */
const PRINT_PORT = `data:text/javascript,${encodeURIComponent(`
  import { Server } from 'node:net';
  const { listen } = Server.prototype;
  Server.prototype.listen = function (...args) {
    this.once('listening', () => console.log(this.address().port));
    return listen.apply(this, args);
  };
`)}`;

/**
 * Runs the first example of a README: a service on port 3000 with 100 requests a minute, its store
 * at `REDIS_URL`. It gets a free port here.
 *
 * @param folder of the package
 */
export function describeReadme(folder: URL): void {
  describe('README', () => {
    test('its example runs as it stands', async () => {
      const text = await readFile(new URL('README.md', folder), 'utf8');
      const example = /^```js\n(.*?)^```$/ms.exec(text)?.[1] ?? '';
      expect(example.trim().split('\n').length).toBeLessThanOrEqual(12);
      const code = example.replace('3000', '0');
      expect(code).not.toBe(example);
      const args = ['--import', PRINT_PORT, '--input-type=module', '--eval', code];
      const service = spawn(process.execPath, args, {
        cwd: fileURLToPath(folder),
        env: { ...process.env, REDIS_URL: (await sharedRedis()).url },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const lines = createInterface(service.stdout)[Symbol.asyncIterator]();
        const port = Number((await lines.next()).value);
        const target = { host: 'localhost', port };
        const answer = await ask(target, { headers: { 'x-api-key': `${process.pid}` } });
        expect(answer).toMatchObject({ status: 200, body: 'hello' });
        expect(parseField(answer, 'RateLimit-Policy')).toEqual([
          { name: 'default', parameters: { q: 100, w: 60 } },
        ]);
      } finally {
        service.kill();
      }
    });
  });
}
