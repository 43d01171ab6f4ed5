import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Target } from './framework.js';

export interface Question {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Keeps connections for further requests. Default: each request has one of its own. */
  readonly agent?: Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value: as they came over the wire. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** One request over a real socket. Rejects where the connection breaks. */
export function ask(target: Target, question: Question = {}): Promise<Answer> {
  const { method = 'GET', path = '/', headers = {}, agent = false } = question;
  return new Promise((resolve, reject) => {
    const sent = request({ ...target, method, path, headers, agent }, (response) => {
      text(response).then((body) => {
        const { statusCode = 0, headers: received, rawHeaders } = response;
        resolve({ status: statusCode, headers: received, rawHeaders, body });
      }, reject);
    });
    sent.once('error', reject);
    sent.end();
  });
}

/** The statuses of `count` requests, one after the other. */
export async function askInTurn(
  target: Target,
  count: number,
  question: Question = {},
): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) statuses.push((await ask(target, question)).status);
  return statuses;
}

/** The statuses of many requests over a few connections, by how many got each. */
export async function askMany(
  target: Target,
  questions: readonly Question[],
): Promise<Record<number, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  try {
    return countStatuses(await Promise.all(questions.map((one) => ask(target, { ...one, agent }))));
  } finally {
    agent.destroy();
  }
}

/** How many of `count` requests, all sent at once, got each status. */
export async function askAtOnce(
  target: Target,
  count: number,
  question: Question = {},
): Promise<Record<number, number>> {
  return countStatuses(
    await Promise.all(Array.from({ length: count }, () => ask(target, question))),
  );
}

function countStatuses(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
