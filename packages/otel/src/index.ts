export type { MeteredLimiter } from '@rl/core/metrics';
export { type PublishOptions, publishMetrics } from './publish-metrics.js';
