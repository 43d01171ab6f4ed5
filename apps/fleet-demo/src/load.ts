import { Agent, get } from 'node:http';
import { API_KEY } from './quota.js';
import { type Mode, PATHS } from './service.js';

/** The machines of the customer. */
export const CLIENTS = 3;

/** Requests each client has in flight at once, to either route. */
const PARALLEL = 4;

const REQUEST_TIMEOUT_MS = 10_000;

/** What became of the requests to one route. */
export interface Tally {
  /** Sent and over: admitted + denied + failed. */
  readonly sent: number;
  readonly admitted: number;
  readonly denied: number;
  /** Answered neither by 200 nor by 429, or not at all. */
  readonly failed: number;
  /** The reasons of those that failed, with how many had each. */
  readonly failures: ReadonlyMap<string, number>;
}

/** The clients: they call the replicas in turn, each over keep-alive sockets of its own. */
export class Load {
  readonly #agents = Array.from({ length: CLIENTS }, () => new Agent({ keepAlive: true }));
  readonly #counts = { perReplica: new Count(), shared: new Count() };
  #turn = 0;

  /**
   * One beat: every client sends its requests at the same moment. Each goes to one replica, twice:
   * to the one route and to the other. Resolves when all are over, so that between two beats no
   * request is on its way and the tallies are whole. Never rejects.
   *
   * @param ports the replicas, at least one
   */
  async beat(ports: readonly number[]): Promise<void> {
    const sends: Promise<void>[] = [];
    for (const agent of this.#agents) {
      for (let i = 0; i < PARALLEL; i++) {
        const port = ports[this.#turn++ % ports.length] as number;
        sends.push(this.#send(agent, port, 'perReplica'), this.#send(agent, port, 'shared'));
      }
    }
    await Promise.all(sends);
  }

  /** The counts at this moment, to either route. */
  tallies(): Record<Mode, Tally> {
    const { perReplica, shared } = this.#counts;
    return { perReplica: perReplica.read(), shared: shared.read() };
  }

  /** Requests sent to either route up to now. */
  get sent(): number {
    return this.#turn;
  }

  /** Ends the sockets. */
  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }

  async #send(agent: Agent, port: number, mode: Mode): Promise<void> {
    const outcome = await call(agent, port, PATHS[mode]);
    this.#counts[mode].add(outcome);
  }
}

type Outcome = 'admitted' | 'denied' | { readonly failure: string };

/** Counts of one route. */
class Count {
  #admitted = 0;
  #denied = 0;
  #failed = 0;
  readonly #failures = new Map<string, number>();

  add(outcome: Outcome): void {
    if (outcome === 'admitted') this.#admitted++;
    else if (outcome === 'denied') this.#denied++;
    else {
      this.#failed++;
      this.#failures.set(outcome.failure, (this.#failures.get(outcome.failure) ?? 0) + 1);
    }
  }

  read(): Tally {
    return {
      sent: this.#admitted + this.#denied + this.#failed,
      admitted: this.#admitted,
      denied: this.#denied,
      failed: this.#failed,
      failures: new Map(this.#failures),
    };
  }
}

/** One request. Never rejects: that it failed is an outcome too. */
function call(agent: Agent, port: number, path: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const headers = { 'x-api-key': API_KEY };
    const request = get({ agent, host: '127.0.0.1', port, path, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        body += text;
      });
      response.on('error', (error) => resolve({ failure: error.message }));
      response.on('end', () => resolve(outcomeOf(response.statusCode, body)));
    });
    request.setTimeout(REQUEST_TIMEOUT_MS, () => {
      request.destroy(new Error(`no answer within ${REQUEST_TIMEOUT_MS} ms`));
    });
    request.on('error', (error) => resolve({ failure: error.message }));
  });
}

function outcomeOf(status: number | undefined, body: string): Outcome {
  if (status === 200) return 'admitted';
  if (status === 429) return 'denied';
  return { failure: `HTTP ${status}: ${body.slice(0, 200)}` };
}
