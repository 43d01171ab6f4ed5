import type { Refusal } from './answer.js';
import type { Verdict } from './gate.js';
import {
  type NodeResponse,
  type ResponseWriter,
  watchResponse,
  writeHeaders,
} from './response-writer.js';

/** How an adapter answers whose framework goes on by a callback. */
export interface Answering<Response> extends ResponseWriter<Response> {
  nodeResponseOf(response: Response): NodeResponse;
  /** True where the response has begun, so that nothing can be written to it any more. */
  isSent(response: Response): boolean;
  /** Sends status and body; the headers are there. */
  send(response: Response, refusal: Refusal): void;
}

/**
 * Does what a gate has judged: goes on, answers, or passes the error on. A response that others have
 * sent meanwhile is left alone and the request goes no further. At once where the verdict is there,
 * and then it throws what `next` throws.
 *
 * @param next goes on, with an error to the framework's error handling
 */
export function follow<Response>(
  verdict: Verdict | Promise<Verdict | undefined> | undefined,
  response: Response,
  next: (error?: Error) => void,
  answering: Answering<Response>,
): void {
  if (verdict === undefined) {
    next();
  } else if (!('then' in verdict)) {
    answer(verdict, response, next, answering);
  } else {
    verdict
      .then((later) => answer(later, response, next, answering))
      .catch((error) => {
        if (!answering.isSent(response)) next(error);
      });
  }
}

function answer<Response>(
  verdict: Verdict | undefined,
  response: Response,
  next: (error?: Error) => void,
  answering: Answering<Response>,
): void {
  if (verdict !== undefined) watchResponse(answering.nodeResponseOf(response), verdict.onEnd);
  if (answering.isSent(response)) return;
  if (verdict !== undefined) writeHeaders(verdict, response, answering);
  const refusal = verdict?.refusal;
  if (refusal === undefined) next();
  else if (refusal.error !== undefined) next(refusal.error);
  else answering.send(response, refusal);
}
