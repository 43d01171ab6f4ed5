import type { StoreFault } from '../errors.js';

/** Which part of a store that has several an event is about. */
export interface OfPlace {
  /**
   * Such as a node of a Redis Cluster, as `host:port`. Left out where the store is one, and of a
   * failure that may be one or another's.
   */
  readonly place?: string | undefined;
}

/** As `OfPlace`, of one that may have come in the place of another. */
export interface OfPlaceAnew extends OfPlace {
  /** The one that was lost, where its part is another's now, such as a Redis replica that was promoted. */
  readonly insteadOf?: string | undefined;
}

/** Something an operator wants to know of the store. Each is told by the limiter that noticed it. */
export type StoreEvent =
  /** A question got no answer, or none in time; where it was a decision, the fallback made it. */
  | ({ readonly type: 'store-failed'; readonly fault: StoreFault; readonly error: Error } & OfPlace)
  /** From now on the store, or that place of it, is not asked, but for one probe at a time. */
  | ({ readonly type: 'store-lost'; readonly fault: StoreFault; readonly error: Error } & OfPlace)
  /** It answers; what was admitted without it is being charged to it. */
  | ({ readonly type: 'store-found' } & OfPlaceAnew)
  /** It decides again. `outageMs`: for how long it did not. */
  | ({ readonly type: 'store-back'; readonly outageMs: number } & OfPlaceAnew)
  /** What was admitted without it has been charged to it, as far as it still mattered. */
  | ({ readonly type: 'reconciled'; readonly buckets: number; readonly permits: number } & OfPlace)
  /** The number of replicas was learnt, is another than before, or is known again. */
  | { readonly type: 'replicas'; readonly replicas: number }
  /** The number of replicas could not be learnt. `replicas`, the last good one, is used; 1 where there was none. */
  | { readonly type: 'replicas-unknown'; readonly replicas: number; readonly error: Error };
