export { type Answer, ask, askAtOnce, askInTurn, type Question } from './client.js';
export { describeAdapter } from './describe-adapter.js';
export { expectAllHandled } from './expect-all-handled.js';
export { parseField } from './fields.js';
export { describeFleet } from './fleet-suite.js';
export type {
  AnyOptions,
  AnyRequest,
  AppPlan,
  Capability,
  Framework,
  Listen,
  PlannedRoute,
  RunningApp,
  Target,
} from './framework.js';
export { serve } from './node-server.js';
export { PATIENT } from './patient.js';
export { describeReadme } from './readme-suite.js';
export { describeServer } from './server-suite.js';
export { describeService, type StartService } from './service-suite.js';
export {
  type AnyStatusOptions,
  describeStatusPage,
  type StatusFramework,
} from './status-suite.js';
export {
  type FrozenStore,
  STORE_KINDS,
  type StoreKind,
  type StoreMaker,
  useStores,
} from './stores.js';
export { type LostRedis, type OutOfReach, useLostRedis } from './use-lost-redis.js';
export { useWarnings } from './use-warnings.js';
