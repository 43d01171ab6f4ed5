import type { Redis } from 'ioredis';
import { ownerOf, type SeenNode, viewOf } from './cluster-view.js';
import { type Controls, infoField, portOf } from './controls.js';
import type { RedisServer } from './redis-server.js';
import { openMove, type SlotMove } from './slot-move.js';
import { until } from './until.js';

const SLOTS = 16_384;
const SETTLE_TIMEOUT_MS = 30_000;

/** One server of a cluster. Its `id` is its name in the cluster, also after a restart. */
export interface ClusterNode {
  readonly id: string;
  readonly server: RedisServer;
  /** What it was started as: a failover changes it. `primaryOf` and `replicasOf` ask. */
  readonly startedAs: 'primary' | 'replica';
}

/** A Redis Cluster of one's own. Call its methods one at a time; after `close` only `close`. */
export interface RedisCluster {
  /** Primaries first, in the order of their slots, then Redis replicas; added ones last. */
  readonly nodes: readonly ClusterNode[];
  /** Where those listen that run: `new Cluster(startupNodes)`. */
  readonly startupNodes: readonly { readonly host: string; readonly port: number }[];
  /** The slot of a key, as the cluster works it out. */
  slotOf(key: string): Promise<number>;
  /** Who has a slot now. */
  primaryOf(slot: number): Promise<ClusterNode>;
  /** The Redis replicas that a node has now. */
  replicasOf(node: ClusterNode): Promise<readonly ClusterNode[]>;
  /** Opens a slot for a move, whose steps are then the test's. */
  beginMove(slot: number, to: ClusterNode): Promise<SlotMove>;
  /** Moves a slot with all its keys, ten at a time. Nothing happens where it is there already. */
  moveSlot(slot: number, to: ClusterNode): Promise<void>;
  /** Starts one more primary, without slots, and resolves when all nodes know one another. */
  addPrimary(): Promise<ClusterNode>;
  /** Ends a primary without warning. Its Redis replica takes over when the others have noticed. */
  killPrimary(node: ClusterNode): Promise<void>;
  /** Resolves to the one that has taken over from a killed primary, when all who live say so. */
  untilPromoted(killed: ClusterNode): Promise<ClusterNode>;
  /**
   * Resolves when every node that runs takes the cluster to be up and knows all others that run,
   * all slots have a primary, and the Redis replicas are connected to theirs.
   */
  untilSettled(): Promise<void>;
  /** Ends all nodes and removes what they left on disk. Safe to repeat. */
  close(): Promise<void>;
}

/** The nodes of a cluster that has been formed. */
export class RunningCluster implements RedisCluster {
  readonly #nodes: ClusterNode[];
  readonly #controls: Controls;
  readonly #startNode: () => Promise<ClusterNode>;
  /** The slots of primaries that were killed, as they were then: one slot of each will do. */
  readonly #lostSlots = new Map<string, number | undefined>();

  constructor(
    nodes: readonly ClusterNode[],
    controls: Controls,
    startNode: () => Promise<ClusterNode>,
  ) {
    this.#nodes = [...nodes];
    this.#controls = controls;
    this.#startNode = startNode;
  }

  get nodes(): readonly ClusterNode[] {
    return this.#nodes;
  }

  get startupNodes(): readonly { readonly host: string; readonly port: number }[] {
    return this.#running().map(({ server }) => ({ host: '127.0.0.1', port: portOf(server) }));
  }

  async slotOf(key: string): Promise<number> {
    return (await this.#anyone().cluster('KEYSLOT', key)) as number;
  }

  async primaryOf(slot: number): Promise<ClusterNode> {
    checkSlot(slot);
    return this.#node(ownerOf(await this.#anyView(), slot), `the primary of slot ${slot}`);
  }

  async replicasOf(node: ClusterNode): Promise<readonly ClusterNode[]> {
    const replicas = (await this.#anyView()).filter(({ primaryId }) => primaryId === node.id);
    return replicas.map(({ id }) => this.#node(id, `a Redis replica of ${node.id}`));
  }

  async beginMove(slot: number, to: ClusterNode): Promise<SlotMove> {
    const from = await this.primaryOf(slot);
    return openMove(this.#controls, slot, from, to, async () => {
      const view = await this.#anyView();
      return this.#running().filter(({ id }) =>
        view.some((seen) => seen.id === id && seen.isPrimary),
      );
    });
  }

  async moveSlot(slot: number, to: ClusterNode): Promise<void> {
    if ((await this.primaryOf(slot)).id === to.id) return;
    const move = await this.beginMove(slot, to);
    await move.finish();
  }

  async addPrimary(): Promise<ClusterNode> {
    const node = await this.#startNode();
    const others = this.#running();
    this.#nodes.push(node);
    await introduce(this.#controls, node, others);
    await this.untilSettled();
    return node;
  }

  async killPrimary(node: ClusterNode): Promise<void> {
    const seen = (await this.#anyView()).find(({ id }) => id === node.id);
    this.#lostSlots.set(node.id, seen?.slots[0]?.[0]);
    await node.server.kill();
  }

  async untilPromoted(killed: ClusterNode): Promise<ClusterNode> {
    const slot = this.#lostSlots.get(killed.id);
    if (slot === undefined) {
      throw new Error(`untilPromoted: ${killed.id} was not killed by killPrimary, or had no slot`);
    }
    const what = `a Redis replica takes over from ${killed.id}`;
    const id = await until(what, SETTLE_TIMEOUT_MS, async () => {
      const views = await Promise.all(this.#running().map((node) => this.#look(node)));
      const owners = new Set(views.map(({ view }) => ownerOf(view, slot)));
      const [owner] = owners;
      const agreed = owners.size === 1 && owner !== killed.id && views.every(({ isUp }) => isUp);
      return agreed ? owner : undefined;
    });
    return this.#node(id, 'the one that took over');
  }

  async untilSettled(): Promise<void> {
    await until('the cluster is up', SETTLE_TIMEOUT_MS, async () => {
      const running = this.#running();
      const views = await Promise.all(running.map((node) => this.#look(node)));
      const roles = new Set<string>();
      for (const { isUp, isLinked, view } of views) {
        const seen = view.filter(({ id }) => running.some((node) => node.id === id));
        if (!isUp || !isLinked || seen.length < running.length) return undefined;
        if (seen.some(({ isDoubtful }) => isDoubtful)) return undefined;
        if (slotsIn(view) < SLOTS) return undefined;
        roles.add(JSON.stringify(seen.map(({ id, primaryId }) => [id, primaryId]).sort()));
      }
      return roles.size === 1 ? true : undefined;
    });
  }

  async close(): Promise<void> {
    this.#controls.close();
    await Promise.all(this.#nodes.map(({ server }) => server.close()));
  }

  /** What a node says of the cluster, and of its connection to its primary, if it has one. */
  async #look(
    node: ClusterNode,
  ): Promise<{ isUp: boolean; isLinked: boolean; view: readonly SeenNode[] }> {
    const client = this.#controls.of(node.server);
    const [info, replication, view] = await Promise.all([
      client.cluster('INFO') as Promise<string>,
      client.info('replication'),
      viewOf(client),
    ]);
    return {
      isUp: infoField(info, 'cluster_state') === 'ok',
      isLinked: ['up', undefined].includes(infoField(replication, 'master_link_status')),
      view,
    };
  }

  #anyView(): Promise<readonly SeenNode[]> {
    return viewOf(this.#anyone());
  }

  #anyone(): Redis {
    const [node] = this.#running();
    if (node === undefined) throw new Error('no node of the cluster runs');
    return this.#controls.of(node.server);
  }

  #running(): readonly ClusterNode[] {
    return this.#nodes.filter(({ server }) => server.pid !== undefined);
  }

  #node(id: string | undefined, what: string): ClusterNode {
    const found = this.#nodes.find((node) => node.id === id);
    if (found === undefined) throw new Error(`${what} is not known: ${id}`);
    return found;
  }
}

/** Has a node shake hands with each of the others. Resolves before they have. */
export async function introduce(
  controls: Controls,
  node: ClusterNode,
  others: readonly ClusterNode[],
): Promise<void> {
  const client = controls.of(node.server);
  const busPorts = await Promise.all(
    others.map(async ({ server }) => {
      const [, port] = (await controls.of(server).config('GET', 'cluster-port')) as string[];
      return Number(port);
    }),
  );
  await Promise.all(
    others.map(({ server }, i) =>
      client.cluster('MEET', '127.0.0.1', portOf(server), busPorts[i] as number),
    ),
  );
}

function slotsIn(view: readonly SeenNode[]): number {
  const ranges = view.flatMap(({ slots }) => slots);
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

function checkSlot(slot: number): void {
  if (Number.isInteger(slot) && slot >= 0 && slot < SLOTS) return;
  throw new RangeError(`slot must be a whole number from 0 to ${SLOTS - 1}, not ${slot}`);
}
