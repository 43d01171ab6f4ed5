import type { Redis } from 'ioredis';

/** What one node of a cluster says of a node, itself included. */
export interface SeenNode {
  readonly id: string;
  readonly isPrimary: boolean;
  /** It or the majority takes the node to be dead, or it has not shaken hands yet. */
  readonly isDoubtful: boolean;
  /** Where it is a Redis replica. */
  readonly primaryId: string | undefined;
  readonly slots: readonly (readonly [first: number, last: number])[];
}

/** CLUSTER NODES of one node. */
export async function viewOf(client: Redis): Promise<readonly SeenNode[]> {
  const lines = ((await client.cluster('NODES')) as string).trim().split('\n');
  return lines.map((line) => {
    const [id = '', , flags = '', primaryId = '-', , , , link, ...slots] = line.split(' ');
    const flagged = flags.split(',');
    return {
      id,
      isPrimary: flagged.includes('master'),
      isDoubtful: link !== 'connected' || /fail|handshake|noaddr/.test(flags),
      primaryId: primaryId === '-' ? undefined : primaryId,
      // In brackets: slots on the move.
      slots: slots.filter((range) => !range.startsWith('[')).map(slotRange),
    };
  });
}

/** Who has a slot, as this view has it. */
export function ownerOf(view: readonly SeenNode[], slot: number): string | undefined {
  return view.find(({ slots }) => slots.some(([first, last]) => slot >= first && slot <= last))?.id;
}

function slotRange(text: string): readonly [number, number] {
  const [first, last = first] = text.split('-');
  return [Number(first), Number(last)];
}
