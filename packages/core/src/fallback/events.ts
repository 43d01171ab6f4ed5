import type { StoreFault } from '../errors.js';

/** Something an operator wants to know of the store. Each is told by the limiter that noticed it. */
export type StoreEvent =
  /** A question got no answer, or none in time; where it was a decision, the fallback made it. */
  | { readonly type: 'store-failed'; readonly fault: StoreFault; readonly error: Error }
  /** From now on the store is not asked, but for one probe at a time. */
  | { readonly type: 'store-lost'; readonly fault: StoreFault; readonly error: Error }
  /** It answers; what was admitted without it is being charged to it. */
  | { readonly type: 'store-found' }
  /** It decides again. `outageMs`: for how long it did not. */
  | { readonly type: 'store-back'; readonly outageMs: number }
  /** What was admitted without it has been charged to it, as far as it still mattered. */
  | { readonly type: 'reconciled'; readonly buckets: number; readonly permits: number }
  /** The number of replicas was learnt, is another than before, or is known again. */
  | { readonly type: 'replicas'; readonly replicas: number }
  /** The number of replicas could not be learnt. `replicas`, the last good one, is used; 1 where there was none. */
  | { readonly type: 'replicas-unknown'; readonly replicas: number; readonly error: Error };
