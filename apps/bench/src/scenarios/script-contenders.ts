import { createLimiter } from '@rl/core';
import { randomPrefix } from '@rl/testkit';
import type { Redis } from 'ioredis';
import { encodeCommand } from '../resp.js';
import { KEYS, OURS, WINDOW_MS } from '../scenario.js';
import { ARTICLE_SCRIPT } from './article-script.js';
import { recordedStore } from './recorded-store.js';

export const ARTICLE = 'article';

/** A script that decides a check of one permit, ready to be called by its digest. */
export interface ScriptContender {
  readonly name: string;
  /** For each of KEYS the call of its check, one key a call, as bytes. */
  readonly commands: readonly Buffer[];
  /** How many of KEYS one more check, made now of each, lets through. */
  admitted(): Promise<number>;
  /** Removes what is stored. */
  forget(): Promise<unknown>;
}

/** Makes a contender whose limit is that many permits in WINDOW_MS. */
export type MakeScriptContender = (client: Redis, limit: number) => Promise<ScriptContender>;

/** The calls are those the store makes for one check in a turn of the event loop. */
const makeOurs: MakeScriptContender = async (client, limit) => {
  const { store, calls, keys } = recordedStore(client, randomPrefix());
  const limiter = createLimiter({ policies: { k: { limit, window: WINDOW_MS } }, store });
  const admitted = async (): Promise<number> => {
    let allowed = 0;
    for (const key of KEYS) if ((await limiter.consume({ k: key })).allowed) allowed++;
    return allowed;
  };
  // The first call of all carries the script: it is not one of those to be measured.
  await limiter.consume({ k: 'first' });
  await admitted();
  if (calls.length !== KEYS.length) {
    throw new Error(`the store made ${calls.length} calls for ${KEYS.length} checks`);
  }
  return {
    name: OURS,
    commands: calls.map(({ sha1, keys: [key = ''], args }) =>
      encodeCommand(['EVALSHA', sha1, 1, key, ...args]),
    ),
    admitted,
    forget: () => client.del([...keys]),
  };
};

const makeArticle: MakeScriptContender = async (client, limit) => {
  const prefix = randomPrefix();
  const keys = KEYS.map((key) => `${prefix}${key}`);
  const sha1 = (await client.script('LOAD', ARTICLE_SCRIPT)) as string;
  const args = [limit, limit / (WINDOW_MS / 1000), 1];
  return {
    name: ARTICLE,
    commands: keys.map((key) => encodeCommand(['EVALSHA', sha1, 1, key, ...args])),
    async admitted() {
      let allowed = 0;
      for (const key of keys) {
        const [answer] = (await client.evalsha(sha1, 1, key, ...args)) as [number];
        allowed += answer;
      }
      return allowed;
    },
    forget: () => client.del(keys),
  };
};

export const SCRIPT_MAKERS: readonly MakeScriptContender[] = [makeOurs, makeArticle];
