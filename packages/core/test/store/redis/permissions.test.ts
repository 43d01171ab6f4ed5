import { readdirSync, readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { isRateLimitError } from '../../../src/errors.js';
import { parsePolicy } from '../../../src/policy/policy.js';
import type { RedisClient } from '../../../src/store/redis/client.js';
import { aclRules, NEEDED_COMMANDS } from '../../../src/store/redis/permissions.js';
import { redisStore } from '../../../src/store/redis/redis-store.js';
import { failuresOf } from '../../support/ask-everything.js';
import { commandCalls, useOwn } from '../../support/redis.js';

const FIVE = parsePolicy('five', { limit: 5, window: '1h' }, '');
const own = useOwn();
const users: Redis[] = [];
afterEach(() => {
  for (const user of users.splice(0)) user.disconnect();
});

/** A client whose user has these rules and no other. */
async function userWith(rules: string): Promise<Redis> {
  await own.client.acl('SETUSER', 'app', 'reset', 'on', '>secret', ...rules.split(' '));
  const login = { username: 'app', password: 'secret', enableReadyCheck: false };
  const user = new Redis({ ...own.server.connection, ...login });
  users.push(user);
  return user;
}

describe('the permissions a store needs', () => {
  it('are those its scripts ask for, and the two commands it is called with', () => {
    const folder = new URL('../../../src/store/redis/lua/', import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const called = files
      .filter((name) => name.endsWith('.lua'))
      .map((name) => readFileSync(new URL(name, folder), 'utf8'))
      .flatMap((lua) => [...lua.matchAll(/call\((?:'([A-Z]+)')?/g)].map(([, command]) => command));
    // A command that is no literal would be missed.
    expect(called).not.toContain(undefined);
    const commands = called.map((command) => (command as string).toLowerCase());
    expect([...NEEDED_COMMANDS].sort()).toEqual(
      [...new Set([...commands, 'eval', 'evalsha'])].sort(),
    );
  });

  it('are enough for every kind of check of every algorithm', async () => {
    await own.client.acl('LOG', 'RESET');
    expect(await failuresOf(await userWith(aclRules('rl')), 'k')).toEqual([]);
    expect(await own.client.acl('LOG')).toEqual([]);
  });

  /** Goes on by another way without one, and leaves without a word without the other. */
  const DONE_WITHOUT = ['evalsha', 'zrem'];
  it.each(NEEDED_COMMANDS)(
    'S-07 without %s it is missed, and what fails says what is needed',
    async (command) => {
      await own.client.acl('LOG', 'RESET');
      const failures = await failuresOf(await userWith(`${aclRules('rl')} -${command}`), 'k');
      const missed = (await own.client.acl('LOG')) as string[][];
      expect(missed.map((entry) => entry[entry.indexOf('object') + 1])).toEqual([command]);
      expect(failures.length > 0).toBe(!DONE_WITHOUT.includes(command));
      for (const failure of failures) {
        expect(isRateLimitError(failure)).toBe(true);
        expect(failure).toMatchObject({ code: 'RL_STORE_FAILED', fault: 'permission' });
        expect(failure.message).toContain(`; its user in Redis needs ${aclRules('rl')}`);
        expect(failure.message).toContain(`+${command}`);
      }
    },
  );

  it('are all on keys of the prefix, which the message names', async () => {
    const user = await userWith(aclRules('other'));
    await expect(redisStore(user, { prefix: 'mine' }).consume(FIVE, 'k', 1)).rejects.toMatchObject({
      fault: 'permission',
      message: expect.stringContaining('its user in Redis needs ~mine:* +eval'),
    });
  });
});

describe('S-07 scripts that may not be called by their digest', () => {
  it('S-07 -evalsha +eval: it goes on with the text, each check charged once', async () => {
    const user = await userWith(`${aclRules('rl')} -evalsha`);
    const store = redisStore(user);
    const remaining = [];
    for (let i = 0; i < 4; i++) remaining.push((await store.consume(FIVE, 'k', 1)).remaining);
    expect(remaining).toEqual([4, 3, 2, 1]);
    const calls = await commandCalls(own.client);
    expect(calls).toMatchObject({ eval: 4, psetex: 4 });
    // It was asked by digest once; a call that is refused does not count as one.
    expect(Number(/rejected_calls=(\d+)/.exec(await statsOf('evalsha'))?.[1])).toBe(1);
  });

  it.each([
    "ERR unknown command 'evalsha', with args beginning with: 'abc' '1' 'k'",
    'ERR unknown command `EVALSHA`, with args beginning with: ',
    "ERR unsupported command 'EVALSHA'",
  ])('S-07 a proxy that says %s', async (text) => {
    let asked = 0;
    const proxy: RedisClient = {
      evalsha: () => {
        asked++;
        return Promise.reject(new Error(text));
      },
      eval: (script, count, ...rest) => own.client.eval(script, count, ...rest),
    };
    const store = redisStore(proxy);
    const remaining = [];
    for (let i = 0; i < 4; i++) remaining.push((await store.consume(FIVE, 'k', 1)).remaining);
    expect(remaining).toEqual([4, 3, 2, 1]);
    expect(asked).toBe(1);
  });

  it('S-07 neither: every check fails, and the error names the permission', async () => {
    const store = redisStore(await userWith(`${aclRules('rl')} -evalsha -eval`));
    for (let i = 0; i < 3; i++) {
      await expect(store.consume(FIVE, 'k', 1)).rejects.toMatchObject({
        code: 'RL_STORE_FAILED',
        fault: 'permission',
        message: expect.stringMatching(/'eval' command; its user in Redis needs .* \+eval /),
      });
    }
    await own.client.acl('SETUSER', 'app', '+eval');
    expect(await store.consume(FIVE, 'k', 1)).toMatchObject({ remaining: 4, origin: 'store' });
  });

  async function statsOf(command: string): Promise<string> {
    const stats = await own.client.info('commandstats');
    return stats.split('\r\n').find((line) => line.startsWith(`cmdstat_${command}:`)) ?? '';
  }
});

it('docs/stores.md has the line to copy', () => {
  const page = readFileSync(new URL('../../../../../docs/stores.md', import.meta.url), 'utf8');
  const lines = [...page.matchAll(/^ACL SETUSER .*$/gm)].map(([line]) => line);
  expect(lines).toEqual([`ACL SETUSER app on >secret ${aclRules('rl')}`]);
});
