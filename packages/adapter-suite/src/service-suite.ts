import type { FallbackOptions, Store } from '@rl/core';
import { afterEach, describe, expect, test } from 'vitest';
import { type Answer, ask, type Question } from './client.js';
import type { RunningApp } from './framework.js';
import { PATIENT } from './patient.js';
import { CONVERSATIONS, type Exchange } from './service-table.js';
import { STORE_KINDS, useStores } from './stores.js';

/** Starts an example service that counts in a store, on a free port. */
export type StartService = (store: Store, fallback: FallbackOptions) => Promise<RunningApp>;

/**
 * What the example services answer, the same whatever the framework: one table of requests and
 * answers, over both stores.
 */
export function describeService(start: StartService): void {
  describe.each(STORE_KINDS)('with its quotas in a %s store', (kind) => {
    const stores = useStores(kind);
    const running: RunningApp[] = [];
    afterEach(async () => {
      await Promise.all(running.splice(0).map((app) => app.close()));
    });

    test.each(CONVERSATIONS)('$title', async ({ exchanges }) => {
      const { store, clock } = stores.frozen();
      const app = await start(store, PATIENT);
      running.push(app);
      for (const [index, exchange] of exchanges.entries()) {
        clock.advance(exchange.afterMs ?? 0);
        const answer = await ask(app.target, questionOf(exchange));
        const place = `exchange ${index}: ${exchange.asks}`;
        expect(seenOf(answer, exchange), place).toEqual(expectedOf(exchange));
        for (const text of exchange.contains ?? []) expect(answer.body, place).toContain(text);
      }
    });
  });
}

function questionOf({ asks, as, login, accept }: Exchange): Question {
  const [method = '', path = ''] = asks.split(' ');
  const authorization = login && `Basic ${Buffer.from(login).toString('base64')}`;
  const given = { 'x-api-key': as, authorization, accept };
  const headers = Object.entries(given).filter(([, value]) => value !== undefined);
  return { method, path, headers: Object.fromEntries(headers) };
}

/** Of an answer what an exchange says something about. */
function seenOf({ status, headers, body }: Answer, { answer, json }: Exchange): object {
  const names = Object.keys(answer.headers);
  const seen = Object.fromEntries(names.map((name) => [name, headers[name]]));
  return { status, headers: seen, ...(json && { json: JSON.parse(body) }) };
}

function expectedOf({ answer, json }: Exchange): object {
  return { ...answer, ...(json && { json }) };
}
