import { createLimiter } from '@rl/core';
import { randomPrefix } from '@rl/testkit';
import type { Redis } from 'ioredis';
import { PATIENT } from '../patient.js';
import { encodeCommand } from '../resp.js';
import { KEYS, OURS, WINDOW_MS } from '../scenario.js';
import { ARTICLE_SCRIPT } from './article-script.js';
import { recordedStore } from './recorded-store.js';

export const ARTICLE = 'article';

/** A script that decides a check of one permit, on a random key prefix of its own. */
export interface ScriptContender {
  readonly name: string;
  /** Makes it ready, and returns for each of KEYS the call of its check, one key a call, as bytes. */
  prepare(): Promise<readonly Buffer[]>;
  /** How many of KEYS one more check, made now of each, lets through. */
  admitted(): Promise<number>;
  /** Removes what is stored. */
  forget(): Promise<unknown>;
}

/** @param limit permits in WINDOW_MS */
export type MakeScriptContender = (client: Redis, limit: number) => ScriptContender;

/** The calls are those the store makes for one check in a turn of the event loop. */
const makeOurs: MakeScriptContender = (client, limit) => {
  const { store, calls, keys } = recordedStore(client, randomPrefix().slice(0, -1));
  const limiter = createLimiter({
    policies: { k: { limit, window: WINDOW_MS } },
    store,
    fallback: PATIENT,
  });
  return {
    name: OURS,
    async prepare() {
      // The first call of all carries the script: it is not one of those to be measured.
      await limiter.consume({ k: 'first' });
      for (const key of KEYS) await limiter.consume({ k: key });
      if (calls.length !== KEYS.length) {
        throw new Error(`the store made ${calls.length} calls for ${KEYS.length} checks`);
      }
      return calls.map(({ sha1, keys: named, args }) =>
        encodeCommand(['EVALSHA', sha1, named.length, ...named, ...args]),
      );
    },
    async admitted() {
      const decisions = await Promise.all(KEYS.map((key) => limiter.consume({ k: key })));
      return decisions.filter(({ allowed }) => allowed).length;
    },
    forget: () => client.del([...keys]),
  };
};

const makeArticle: MakeScriptContender = (client, limit) => {
  const prefix = randomPrefix();
  // As long as ours: what is compared is scripts, not how keys are named.
  const keys = KEYS.map((key) => `${prefix}{${key}}:bucket`);
  const args = [limit, limit / (WINDOW_MS / 1000), 1];
  let sha1: string;
  return {
    name: ARTICLE,
    async prepare() {
      sha1 = (await client.script('LOAD', ARTICLE_SCRIPT)) as string;
      return keys.map((key) => encodeCommand(['EVALSHA', sha1, 1, key, ...args]));
    },
    async admitted() {
      const answers = await Promise.all(keys.map((key) => client.evalsha(sha1, 1, key, ...args)));
      return answers.filter((answer) => (answer as number[])[0] === 1).length;
    },
    forget: () => client.del(keys),
  };
};

export const SCRIPT_MAKERS: readonly MakeScriptContender[] = [makeOurs, makeArticle];
