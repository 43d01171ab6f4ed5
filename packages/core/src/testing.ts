export type { ContractTest, OpenedStore, OpenStore } from './testing/contract/contract-test.js';
export { storeContract } from './testing/contract/store-contract.js';
export { frozenRedisStore } from './testing/frozen-redis-store.js';
export { ManualClock } from './testing/manual-clock.js';
