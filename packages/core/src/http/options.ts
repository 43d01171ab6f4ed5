import type { FallbackOptions } from '../fallback/options.js';
import type { KeyPart } from '../key/combine-keys.js';
import type { Limiter, PerPolicy, PolicyChanges } from '../limiter/limiter.js';
import type { FallbackMode } from '../policy/fallback-mode.js';
import type { PolicyOptions } from '../policy/policy.js';
import type { Store } from '../store/store.js';
import type { RefundWhen, ResponseEnd } from './after-response.js';
import type { BodyOption } from './body.js';
import type { Preflight } from './charged-requests.js';
import type { Denial } from './denial.js';
import type { HeaderFormats, HeaderOptions } from './headers/formats.js';
import type { MissingKey, NoAddress } from './missing-key.js';
import type { ProxyOptions } from './proxy-options.js';
import type { RequestKeys } from './request-keys.js';
import type { Later } from './thenable.js';

/** Which requests are charged at all. */
export interface ChargeOptions<Request> {
  /** True lets a request pass: no check, no headers, no store call. May be a promise. */
  skip?: ((request: Request) => Later<boolean>) | undefined;
  /**
   * The methods that are charged, in capitals; others pass. HEAD is charged where GET is. Default: all.
   */
  methods?: readonly string[] | undefined;
  /**
   * What becomes of the requests by which browsers ask whether they may send another one (CORS): `skip`
   * lets them pass, `charge` charges them like others. Default `"skip"`: the script that made the other
   * one could not even see why it failed.
   */
  preflight?: Preflight | undefined;
}

/** How clients are answered. */
export interface AnswerOptions<Request> {
  /** What clients are told of their quotas: presets, a function, or options. Default `"draft-11"`. */
  headers?: HeaderFormats | HeaderOptions | undefined;
  /** What denied clients are answered with. Default `"problem"`, a problem document (RFC 9457). */
  body?: BodyOption<Request> | undefined;
  /**
   * Up to how much longer than needed denied clients are told to wait, at random and in whole seconds,
   * so that they do not all come back at once: milliseconds, or a text such as `"10s"`. Default: none.
   */
  retryJitter?: number | string | undefined;
  /**
   * Called with each denial before it is answered, to log or count it. It changes nothing: that it
   * fails is a warning, and a promise is not waited for.
   */
  onDenied?: ((denial: Denial, request: Request) => unknown) | undefined;
}

/** What depends on the response to a request that was charged. */
export interface ResponseOptions<Request> {
  /**
   * Which responses give the request its permits back: `failed`, those of status 400 and above and those
   * that the client did not wait for; `successful`, all others; or a function. Default: none.
   */
  refundWhen?:
    | RefundWhen
    | ((response: ResponseEnd, request: Request) => Later<boolean>)
    | undefined;
  /**
   * The true cost, known when the response has ended, in the place of `cost`: for all policies or by
   * policy, an integer, at least 0; what is undefined or left out stays. Not asked where `refundWhen`
   * gave it back.
   */
  settle?:
    | ((response: ResponseEnd, request: Request) => Later<PerPolicy<number> | undefined>)
    | undefined;
}

/** What both forms take. */
export interface CommonOptions<Request>
  extends ChargeOptions<Request>,
    AnswerOptions<Request>,
    ResponseOptions<Request>,
    ProxyOptions {
  /**
   * Permits a request costs, for all policies or by policy: an integer, at least 0, or a function of
   * the request. Default 1.
   */
  cost?: PerPolicy<number> | ((request: Request) => Later<PerPolicy<number>>) | undefined;
  /** False switches the middleware off: no check, no headers, no store call. Default true. */
  enabled?: boolean | undefined;
  /**
   * What becomes of a request without a key, for all policies or by policy. `address`, the default,
   * charges its client address; `deny` answers 429; `skip` leaves the policy out.
   */
  missingKey?: MissingKey | { readonly [policy: string]: MissingKey } | undefined;
  /**
   * What becomes of a request without an address that has to be charged to it, as on a Unix socket.
   * `error`, the default, is for the framework to handle; `deny` answers 429; `skip` leaves the
   * policy out; `share` has one bucket for all of them.
   */
  noAddress?: NoAddress | undefined;
  /** How many bits of an IPv6 address name a client: an integer from 32 to 128. Default 56. */
  ipv6Prefix?: number | undefined;
  /** Other values of policies for this request, by name: `{ tenant: { limit: 1000 } }`. */
  policies?: ((request: Request) => Later<PolicyChanges | undefined>) | undefined;
}

/** What only the form with one policy takes, besides that policy. */
export interface InPlaceOptions<Request> {
  /** Permits per window: an integer, at least 0, or a function of the request. */
  limit: number | ((request: Request) => Later<number>);
  /** Name of the policy, in headers and in the store. Default `"default"`. */
  name?: string | undefined;
  /** Where buckets live. Default: this process's memory. */
  store?: Store | undefined;
  /**
   * What becomes of requests while the store cannot answer, and how long they wait for it. A mode
   * stands for the options with that mode. Default `"local"`.
   */
  fallback?: FallbackMode | FallbackOptions | undefined;
  /** The partition key: whom the request is charged to. Default: the client's address. */
  key?: ((request: Request) => Later<KeyPart | null | undefined>) | undefined;
}

/** What only the form with a limiter takes. */
export interface GivenLimiterOptions<Request> {
  limiter: Limiter;
  /** Which policies the request falls under and its partition keys: `{ tenant: req.tenant }`. */
  keys: (request: Request) => Later<RequestKeys>;
}

/** Options of the other form. */
type Absent<Options> = { [Name in keyof Options]?: undefined };

type OnePolicy<Request> = Omit<PolicyOptions, keyof InPlaceOptions<Request>> &
  InPlaceOptions<Request>;

/** One policy, given in place. */
export interface PolicyRateLimitOptions<Request>
  extends CommonOptions<Request>,
    OnePolicy<Request>,
    Absent<GivenLimiterOptions<Request>> {}

/** A limiter made elsewhere, with its policies and its fallback. */
export interface LimiterRateLimitOptions<Request>
  extends CommonOptions<Request>,
    GivenLimiterOptions<Request>,
    Absent<OnePolicy<Request>> {}

/** What `rateLimit` takes, the same in every framework. */
export type RateLimitOptions<Request> =
  | PolicyRateLimitOptions<Request>
  | LimiterRateLimitOptions<Request>;
