export type {
  LimiterFacts,
  PolicyFacts,
  StatusFacts,
  StoreFacts,
  TopFacts,
} from './status/facts.js';
export { parseMountPath, type ShownLimiter, type StatusPageOptions } from './status/options.js';
export { isBelow, type StatusAnswer, type StatusCall, StatusPage } from './status/status-page.js';
