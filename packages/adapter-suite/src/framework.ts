import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { RateLimitOptions } from '@rl/core/http';

/** What the suite's key and cost functions read of a request: all frameworks have it there. */
export interface AnyRequest {
  readonly headers: IncomingHttpHeaders;
}

/** Options that fit every adapter. */
export type AnyOptions = RateLimitOptions<AnyRequest>;

/** A route with a limiter of its own, which sees the route that was matched. */
export interface PlannedRoute {
  readonly method: 'GET' | 'POST';
  /** As all frameworks write it: `/verify/:code`. */
  readonly path: string;
  readonly limiter: AnyOptions;
}

/**
 * An app to build: what allows other origins by `Access-Control-Allow-Origin: *`, the limiters in
 * their order, the routes, a handler of `/` that answers 200 `ok`.
 */
export interface AppPlan {
  readonly limiters: readonly AnyOptions[];
  /** Whose X-Forwarded-For the framework believes: that of one proxy, or anybody's. */
  readonly trust?: 'nobody' | 'one' | 'anybody' | undefined;
  /** Each answers 200 `ok`, in the framework's own way to match paths. */
  readonly routes?: readonly PlannedRoute[] | undefined;
  /**
   * Called before the limiters, at once and not in a promise. `answerLate` answers 503 `late` in the
   * framework's own way; `takeRaw` gives Node's response behind it, to write to.
   */
  readonly onArrival?:
    | ((answerLate: () => void, takeRaw: () => ServerResponse) => void)
    | undefined;
  /** Called by the handler. */
  readonly onHandled?: (() => void) | undefined;
  /** Which status the handler answers with, at once or later. Default: 200, at once. */
  readonly statusOf?: ((request: AnyRequest) => number | Promise<number>) | undefined;
  /** True: an error handler of the app's own answers with the error's status and the text `custom`. */
  readonly handlesErrors?: boolean | undefined;
  /** Called with what reaches the framework's error handling, which goes on to answer 500. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Where to listen: a free port of 127.0.0.1, or a Unix socket. */
export type Listen = 'port' | { readonly socketPath: string };

/** Where a request goes, in the words of `http.request`. */
export type Target =
  | { readonly host: string; readonly port: number }
  | { readonly socketPath: string };

/** An app that listens. */
export interface RunningApp {
  readonly target: Target;
  close(): Promise<void>;
}

/**
 * What not every framework has: `routes`, which an adapter can name as endpoints; `proxies`, a view of
 * its own on whom to believe about addresses, which the adapter warns of; `other responses`, that others
 * can send or begin while the limiter is asked.
 */
export type Capability = 'routes' | 'proxies' | 'other responses';

/** A framework with its adapter. */
export interface Framework {
  /** With its major version: `Express 5`. */
  readonly name: string;
  /** Rejects with what the adapter throws where it does not take its options. */
  start(plan: AppPlan, listen: Listen): Promise<RunningApp>;
  /** The adapter's own; undefined where the framework lacks `routes`. */
  endpointOf?(request: AnyRequest): string | undefined;
  /** What it does not have: the tests of that are not made. Default: it has all. */
  readonly lacks?: readonly Capability[] | undefined;
}

/** Whether the tests of this are made. */
export function has({ lacks = [] }: Framework, capability: Capability): boolean {
  return !lacks.includes(capability);
}
