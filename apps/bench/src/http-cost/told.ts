import { Agent, get, type IncomingMessage } from 'node:http';
import { CLIENT_HEADER } from '../http-load/request.js';

/** What a server tells its clients of their quotas. */
export interface Told {
  /** The headers about a quota that it writes, in their order, as it spells them. */
  readonly headers: readonly string[];
  /** What is left to each client together; undefined where no header says so. */
  readonly remaining: number | undefined;
}

/**
 * Asks a server for each of the clients in turn, at a request each.
 * @throws Error where an answer is not a 200
 */
export async function askWhatIsTold(port: number, clients: readonly string[]): Promise<Told> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let headers: readonly string[] = [];
  let remaining: number | undefined;
  try {
    for (const client of clients) {
      const response = await ask(port, client, agent);
      headers = quotaHeaders(response);
      const left = remainingIn(response);
      if (left !== undefined) remaining = (remaining ?? 0) + left;
    }
  } finally {
    agent.destroy();
  }
  return { headers, remaining };
}

function ask(port: number, client: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { [CLIENT_HEADER]: client };
    get({ host: '127.0.0.1', port, agent, headers }, (response) => {
      response.resume();
      response.once('error', reject);
      response.once('end', () => {
        if (response.statusCode === 200) resolve(response);
        else reject(new Error(`a request was answered with ${response.statusCode}`));
      });
    }).once('error', reject);
  });
}

function quotaHeaders({ rawHeaders }: IncomingMessage): readonly string[] {
  return rawHeaders.filter((name, i) => i % 2 === 0 && /ratelimit/i.test(name));
}

/** `r` of the field of the draft, or the header that says nothing else. */
function remainingIn({ headers }: IncomingMessage): number | undefined {
  const text =
    /;\s*r=(\d+)/.exec(String(headers.ratelimit))?.[1] ?? headers['x-ratelimit-remaining'];
  return text === undefined ? undefined : Number(text);
}
