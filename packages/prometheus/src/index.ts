export type { MeteredLimiter } from '@rl/core/metrics';
export type { AnyRegistry } from './publication.js';
export { type PublishOptions, publishMetrics } from './publish-metrics.js';
