export type { ResponseEnd } from './http/after-response.js';
export type { Refusal } from './http/answer.js';
export {
  type Body,
  type BodyFunction,
  type BodyOption,
  type Content,
  content,
} from './http/body.js';
export {
  checkInteger,
  checkOptionNames,
  invalidType,
  invalidValue,
  POLICY_OPTION_NAMES,
  parseDuration,
  parsePolicy,
} from './http/checks.js';
export { clientIp } from './http/client-address.js';
export type { ProxyTrust, ProxyView } from './http/client-key.js';
export type { Denial } from './http/denial.js';
export { DeniedError } from './http/denied-error.js';
export { endpointName } from './http/endpoint.js';
export { type Answering, follow } from './http/follow.js';
export { checkFunction } from './http/functions.js';
export { Gate, type Verdict } from './http/gate.js';
export type {
  HeaderFormats,
  HeaderOptions,
  HeaderPreset,
  HeaderWriter,
} from './http/headers/formats.js';
export type { Header } from './http/headers/header.js';
export type { HeaderSet } from './http/headers/report.js';
export type { MissingKey, NoAddress } from './http/missing-key.js';
export type {
  LimiterRateLimitOptions,
  PolicyRateLimitOptions,
  RateLimitOptions,
} from './http/options.js';
export type { ForwardedBy, ProxyOptions } from './http/proxy-options.js';
export { refuseUpgrade, type UpgradeSocket } from './http/refuse-upgrade.js';
export type { RequestKeys } from './http/request-keys.js';
export { type NodeRequest, nodeReader, type RequestReader } from './http/request-reader.js';
export {
  type NodeResponse,
  type ResponseWriter,
  watchResponse,
  writeHeaders,
} from './http/response-writer.js';
export { RouteGates } from './http/route-gates.js';
export type {
  ContextRateLimitOptions,
  InheritedOptions,
  RoutePlacement,
  RouteRateLimitOptions,
} from './http/route-options.js';
