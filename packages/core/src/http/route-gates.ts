import { invalidType, invalidValue, isRateLimitError } from '../errors.js';
import { memoryStore } from '../store/memory/memory-store.js';
import type { Store } from '../store/store.js';
import { Gate } from './gate.js';
import { checkChoice } from './missing-key.js';
import type { RequestReader } from './request-reader.js';
import { routePolicyName } from './route-name.js';
import {
  type ContextRateLimitOptions,
  ofContext,
  type RouteRateLimitOptions,
  standsAlone,
  withInherited,
} from './route-options.js';

/** The gate of a route, and the options it was made of. */
interface RouteGate<Request> {
  readonly own: unknown;
  readonly gate: Gate<Request>;
}

/** The endpoints whose policies are named by themselves, by that name: of each app. */
const NAMED = new WeakMap<object, Set<string>>();

/** What the framework has for limits of routes. */
export interface Routing<Hook extends string> {
  /** Whatever stands for the app, the same for all its contexts. */
  readonly app: object;
  /** What errors call the options of a route: `config.rl`. */
  readonly where: string;
  /** The hooks in which a request can be charged, the default first. */
  readonly hooks: readonly [Hook, ...Hook[]];
}

/** A route's options, false where it wants no limit of its contexts, undefined where it says nothing. */
type Own<Request, Hook extends string> = RouteRateLimitOptions<Request, Hook> | false | undefined;

/** The gates of one context: its own, and one for each of its routes that has a limit. */
export class RouteGates<Request, Hook extends string> {
  /** The context's. */
  readonly hook: Hook;
  readonly #context: Gate<Request>;
  readonly #options: ContextRateLimitOptions<Request>;
  readonly #reader: RequestReader<Request>;
  readonly #routing: Routing<Hook>;
  readonly #names: Set<string>;
  readonly #routes = new Map<string, RouteGate<Request>[]>();
  /** Of the routes whose context has no store: they share one, as they would share any other. */
  #memory: Store | undefined;

  /** @throws TypeError or RangeError that names the option and shows the value */
  constructor(
    options: ContextRateLimitOptions<Request> & { hook?: Hook | undefined },
    reader: RequestReader<Request>,
    routing: Routing<Hook>,
  ) {
    const { hook = routing.hooks[0], ...others } = options;
    this.hook = checkChoice('hook', routing.hooks, hook);
    this.#options = others as ContextRateLimitOptions<Request>;
    this.#context = new Gate(ofContext(this.#options), reader);
    this.#reader = reader;
    this.#routing = routing;
    this.#names = NAMED.get(routing.app) ?? new Set();
    NAMED.set(routing.app, this.#names);
  }

  /** That of the context, for requests to a route; undefined where the route is left alone by it. */
  ofContext(own: Own<Request, Hook>): Gate<Request> | undefined {
    return standsAlone(own) ? undefined : this.#context;
  }

  /**
   * That of a route, made when it is first asked for; undefined where it has no limit. Routes of one
   * endpoint, whether their path ends in a slash or not, have one gate where they have the same object
   * as options: HEAD and its GET.
   *
   * @param endpoint made by `endpointName`; undefined where there is no route
   * @param hooks those in which it can be charged now
   * @throws TypeError or RangeError that names the option and the route and shows the value
   */
  ofRoute(
    endpoint: string | undefined,
    own: Own<Request, Hook>,
    hooks: readonly Hook[] = this.#routing.hooks,
  ): { readonly gate: Gate<Request>; readonly hook: Hook } | undefined {
    if (endpoint === undefined || own === undefined || own === false) return undefined;
    const path = endpoint.replace(/\/$/, '');
    const routes = this.#routes.get(path) ?? [];
    try {
      const hook = checkChoice('hook', hooks, own?.hook ?? this.hook);
      const known = routes.find((route) => route.own === own);
      if (known !== undefined) return { gate: known.gate, hook };
      const gate = this.#gateOf(endpoint, own);
      this.#routes.set(path, [...routes, { own, gate }]);
      return { gate, hook };
    } catch (error) {
      throw placed(error, this.#routing.where, endpoint);
    }
  }

  /** Ends all limiters that were made here. */
  async close(): Promise<void> {
    const routes = [...this.#routes.values()].flat();
    await Promise.all([this.#context, ...routes.map(({ gate }) => gate)].map((one) => one.close()));
    await this.#memory?.close();
  }

  #gateOf(endpoint: string, own: RouteRateLimitOptions<Request, Hook>): Gate<Request> {
    if (typeof own !== 'object' || own === null) {
      throw invalidType('', 'an object with limit and window, or with keys, or false', own);
    }
    const options = withInherited(own, this.#options);
    if (options.limiter !== undefined) return new Gate(options, this.#reader);
    const name = options.name ?? routePolicyName(endpoint);
    const isNamedByRoute = options.name === undefined;
    if (isNamedByRoute && this.#names.has(name)) {
      const expected = 'given, as another route has the name that is made of this one';
      throw invalidValue('name', expected, name);
    }
    this.#memory ??= options.store === undefined ? memoryStore() : undefined;
    const { store = this.#memory } = options;
    const gate = new Gate({ ...options, name, store }, this.#reader);
    if (isNamedByRoute) this.#names.add(name);
    return gate;
  }
}

/** An error about options, with the name of the option as the route has it. */
function placed(error: unknown, where: string, endpoint: string): unknown {
  if (!isRateLimitError(error)) return error;
  const { message, field = '' } = error;
  const isNamed = field !== '' && message.startsWith(field);
  const text = `${where}${isNamed ? '.' : field === '' ? '' : ': '}${message} (of ${endpoint})`;
  // The stack is what is printed, and has the message as it was.
  const stack = error.stack?.replace(message, () => text);
  return Object.assign(error, { message: text, stack, field: `${where}${field && `.${field}`}` });
}
