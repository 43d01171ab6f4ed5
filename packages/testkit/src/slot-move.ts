import { type Controls, portOf } from './controls.js';
import type { RedisServer } from './redis-server.js';

const MIGRATE_TIMEOUT_MS = 5_000;
const KEYS_AT_A_TIME = 10;

/** A slot on its way from one primary to another. */
export interface SlotMove {
  /**
   * Moves this many of its keys, or these, which must be in the slot. From then on the primary it
   * leaves answers ASK for them; a call over several keys of which some have moved is answered
   * TRYAGAIN by both. Resolves to how many were moved.
   */
  migrateKeys(keys: number | readonly string[]): Promise<number>;
  /** Moves what is left, and has all primaries know its new owner. */
  finish(): Promise<void>;
}

/** One end of a move. */
export interface SlotEnd {
  readonly id: string;
  readonly server: RedisServer;
}

/** Opens a slot for its move: no key has moved when this resolves. */
export async function openMove(
  controls: Controls,
  slot: number,
  from: SlotEnd,
  to: SlotEnd,
  primaries: () => Promise<readonly SlotEnd[]>,
): Promise<SlotMove> {
  const source = controls.of(from.server);
  await controls.of(to.server).cluster('SETSLOT', slot, 'IMPORTING', from.id);
  await source.cluster('SETSLOT', slot, 'MIGRATING', to.id);

  const migrate = async (keys: readonly (string | Buffer)[]): Promise<number> => {
    if (keys.length === 0) return 0;
    const target = ['127.0.0.1', portOf(to.server), '', 0, MIGRATE_TIMEOUT_MS] as const;
    await source.call('MIGRATE', ...target, 'KEYS', ...keys);
    return keys.length;
  };
  const migrateSome = async (count: number): Promise<number> => {
    const keys = await source.callBuffer('CLUSTER', 'GETKEYSINSLOT', slot, count);
    return migrate(keys as Buffer[]);
  };

  return {
    migrateKeys: (keys) => (typeof keys === 'number' ? migrateSome(keys) : migrate(keys)),
    async finish() {
      while ((await migrateSome(KEYS_AT_A_TIME)) > 0);
      // First the one that gets it, or for a moment nobody would have it.
      const others = (await primaries()).filter(({ id }) => id !== to.id && id !== from.id);
      for (const { server } of [to, from, ...others]) {
        await controls.of(server).cluster('SETSLOT', slot, 'NODE', to.id);
      }
    },
  };
}
