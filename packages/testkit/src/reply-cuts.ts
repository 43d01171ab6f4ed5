/** A cut that was asked for: it waits for a request, then for the reply to that. */
export interface ReplyCut {
  readonly matches: (request: Buffer) => boolean;
  /** The client was cut off. The first of the two calls counts. */
  done(): void;
  /** It cannot happen any more. */
  failed(reason: string): void;
}

/** The cuts that wait for a request. Each goes to one connection. */
export class ReplyCuts {
  readonly #armed = new Set<ReplyCut>();

  /** Rejects when the cut failed; a caller that never looks at the promise comes to no harm. */
  arm(matches: (request: Buffer) => boolean): Promise<void> {
    const happened = new Promise<void>((resolve, reject) => {
      this.#armed.add({
        matches,
        done: resolve,
        failed: (reason) => reject(new Error(`cutBeforeReply: ${reason}`)),
      });
    });
    happened.catch(() => {});
    return happened;
  }

  /** The oldest cut that matches; it waits no longer. */
  claim(request: Buffer): ReplyCut | undefined {
    for (const cut of this.#armed) {
      if (!cut.matches(request)) continue;
      this.#armed.delete(cut);
      return cut;
    }
    return undefined;
  }

  failAll(reason: string): void {
    for (const cut of this.#armed) cut.failed(reason);
    this.#armed.clear();
  }
}
