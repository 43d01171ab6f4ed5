import { setTimeout as sleep } from 'node:timers/promises';

/** What one client asks again and again. */
export interface Traffic {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** Requests a second. */
  readonly rate: number;
}

/** Three customers and somebody who guesses passwords: ann asks far more than her 5 a minute. */
export const TENANTS: Readonly<Record<string, Traffic>> = {
  ann: { path: '/', headers: { 'x-api-key': 'key-of-ann' }, rate: 2 },
  bob: { path: '/', headers: { 'x-api-key': 'key-of-bob' }, rate: 0.25 },
  'bob, searching': { path: '/search?pages=2', headers: { 'x-api-key': 'key-of-bob' }, rate: 0.05 },
  cleo: { path: '/', headers: { 'x-api-key': 'key-of-cleo' }, rate: 0.07 },
  'a guest': { path: '/login', method: 'POST', rate: 0.02 },
};

export interface Load {
  /** Statuses and how often they came since it was last asked, by client. */
  taken(): Readonly<Record<string, Readonly<Record<string, number>>>>;
  stop(): Promise<void>;
}

/** Sends each client's requests to the replicas in turn. */
export function startLoad(
  urls: readonly string[],
  clients: Readonly<Record<string, Traffic>>,
): Load {
  const ending = new AbortController();
  let counts: Record<string, Record<string, number>> = {};
  const run = async (name: string, { path, method = 'GET', headers = {}, rate }: Traffic) => {
    for (let turn = 0; !ending.signal.aborted; turn++) {
      const url = `${urls[turn % urls.length]}${path}`;
      const status = await fetch(url, { method, headers }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        () => 'no answer',
      );
      const own = counts[name] ?? {};
      counts[name] = { ...own, [status]: (own[status] ?? 0) + 1 };
      await sleep(1000 / rate, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };
  const runs = Object.entries(clients).map(([name, traffic]) => run(name, traffic));
  return {
    taken() {
      const taken = counts;
      counts = {};
      return taken;
    },
    async stop() {
      ending.abort();
      await Promise.all(runs);
    },
  };
}
