import { reasonOf } from './body.js';
import type { Denial } from './denial.js';

/**
 * A denial as the error that frameworks know, where the app has asked for one by `body: 'error'`: an
 * error handler of the app, or the framework's own, answers it.
 */
export class DeniedError extends Error {
  override readonly name = 'DeniedError';
  /** 429 or 503, as Express and Koa read it. */
  readonly status: number;
  /** The same, as Fastify reads it. */
  readonly statusCode: number;
  /** The message may be shown to the client. */
  readonly expose = true;
  readonly denial: Denial;
  /** All that the response has of this denial, for handlers that begin with a response of their own. */
  headers: Readonly<Record<string, string>> = {};

  constructor(denial: Denial) {
    super(denial.detail || reasonOf(denial));
    this.status = denial.status;
    this.statusCode = denial.status;
    this.denial = denial;
  }
}
