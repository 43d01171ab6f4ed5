import { type Clock, createLimiter, type Decision, type Limiter, memoryStore } from '@rl/core';
import { PATIENT } from '../patient.js';
import { type Fleet, LEASE_MS, type World } from './fleet.js';
import { NetworkStore } from './network-store.js';
import { Random } from './random.js';

const KEYS = { api: 'everyone' };

interface Replica {
  readonly limiter: Limiter<'api'>;
  readonly store: NetworkStore;
}

/**
 * The real thing: limiters of @rl/core and a store in memory of it, which is what the Redis store
 * is held to. Simulated are only time and what is between them.
 */
export function leasingFleet({ scenario, seed, network, tally }: World): Fleet {
  const { timeline } = network;
  const random = new Random(seed, 'clocks');
  const store = memoryStore({ clock: { nowMs: () => Math.floor(timeline.nowMs) } });
  const replicas = new Map<number, Replica>();
  const unsent: NetworkStore[] = [];
  let failure: { readonly error: unknown } | undefined;

  /**
   * Lets the limiters go on until none has anything to do before time moves: until for so many
   * turns of the event loop nothing was asked.
   */
  async function settle(quietTurns: number): Promise<void> {
    for (let quiet = 0; quiet < quietTurns; quiet++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (failure !== undefined) throw failure.error;
      if (unsent.length === 0) continue;
      for (const one of unsent.splice(0)) one.flush();
      quiet = -1;
    }
  }

  function start(): Replica {
    // Clocks that began at other times and run a little fast or slow.
    const startMs = random.between(0, 1e6);
    const rate = random.between(0.999, 1.001);
    const clock: Clock = { nowMs: () => Math.floor(startMs + timeline.nowMs * rate) };
    const ownStore = new NetworkStore(
      network.connect(),
      store,
      () => settle(2),
      (one) => unsent.push(one),
    );
    const { limitPerSecond, burst } = scenario;
    const policy = { limit: limitPerSecond, window: '1s', burst, lease: { ttl: LEASE_MS } };
    const limiter = createLimiter({
      policies: { api: policy },
      store: ownStore,
      fallback: PATIENT,
      clock,
    });
    return { limiter, store: ownStore };
  }

  function count(decision: Decision): void {
    const { nowMs } = timeline;
    if (!decision.allowed) tally.denied++;
    else tally.admit(decision.origin === 'store' ? decision.decidedAtMs : nowMs, nowMs);
  }

  return {
    request(index) {
      let replica = replicas.get(index);
      if (replica === undefined) {
        replica = start();
        replicas.set(index, replica);
      }
      const { limiter } = replica;
      const decision = limiter.tryConsume(KEYS);
      if (decision !== undefined) {
        tally.local++;
        count(decision);
        return settle(1);
      }
      limiter.consume(KEYS).then(count, (error) => {
        failure ??= { error };
      });
      return settle(2);
    },
    crash(index) {
      replicas.get(index)?.store.cut();
      replicas.delete(index);
    },
    async close() {
      await store.close();
    },
  };
}
