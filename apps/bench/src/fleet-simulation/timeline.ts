/** What happens at an instant. What it returns is awaited before time goes on. */
export type Action = () => Promise<void> | undefined;

interface Event {
  readonly atMs: number;
  /** Events of one instant happen in the order in which they were scheduled. */
  readonly order: number;
  readonly action: Action;
}

/** Virtual time, which stands still but for moving to the next event. */
export class Timeline {
  /** Not whole: what reads it as a clock rounds it down. */
  nowMs = 0;
  /** A heap: no event is after those at twice its index plus 1 and 2. */
  readonly #events: Event[] = [];
  #scheduled = 0;

  /** Infinite where nothing is scheduled. */
  get nextAtMs(): number {
    return this.#events[0]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  /** @param atMs not before now */
  schedule(atMs: number, action: Action): void {
    if (!(atMs >= this.nowMs)) throw new RangeError(`cannot schedule at ${atMs}: it is past`);
    const event = { atMs, order: this.#scheduled++, action };
    const events = this.#events;
    let at = events.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const other = events[parent] as Event;
      if (!isBefore(event, other)) break;
      events[at] = other;
      at = parent;
    }
    events[at] = event;
  }

  /** Moves on to the next event and lets it happen. */
  runNext(): Promise<void> | undefined {
    const event = this.#pop();
    this.nowMs = event.atMs;
    return event.action();
  }

  #pop(): Event {
    const events = this.#events;
    const [first] = events;
    const last = events.pop();
    if (first === undefined || last === undefined) throw new RangeError('nothing is scheduled');
    if (first === last) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= events.length) break;
      const right = events[child + 1];
      if (right !== undefined && isBefore(right, events[child] as Event)) child++;
      const other = events[child] as Event;
      if (!isBefore(other, last)) break;
      events[at] = other;
      at = child;
    }
    events[at] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
