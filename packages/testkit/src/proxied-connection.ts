import type { Socket } from 'node:net';
import { DelayLine } from './delay-line.js';
import type { ReplyCut, ReplyCuts } from './reply-cuts.js';

/** What a proxy does to all its connections at this moment. They look at it for every chunk. */
export interface Faults {
  /** Added to what comes in from now on. */
  toServerMs: number;
  toClientMs: number;
  /** Whatever would be delivered, ends of streams included, is swallowed. */
  blackholed: boolean;
  readonly replyCuts: ReplyCuts;
}

/** What went through a proxy. */
export interface Traffic {
  /** Accepted from clients, those in a black hole too. */
  connections: number;
  /** Handed on; what was swallowed or dropped does not count. */
  bytesToServer: number;
  bytesToClient: number;
  /** Connections destroyed by a fault: `cut`, `refuse`, `heal` or `cutBeforeReply`. */
  cuts: number;
}

const END = Symbol('end of stream');
const CUT = Symbol('cut');

/**
 * A client's socket and the one to the server on its behalf, both with `allowHalfOpen`. Forwards
 * bytes and ends of streams, in order, under the faults of the moment. It owns both sockets.
 */
export class ProxiedConnection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #faults: Faults;
  readonly #traffic: Traffic;
  readonly #gone: () => void;
  readonly #toServer: DelayLine<Buffer | typeof END>;
  readonly #toClient: DelayLine<Buffer | typeof END | typeof CUT>;
  #replyCut: ReplyCut | undefined;
  #replyDropped = false;

  /** `gone` is called each time it is destroyed, by whomever. */
  constructor(client: Socket, server: Socket, faults: Faults, traffic: Traffic, gone: () => void) {
    this.#client = client.unref();
    this.#server = server.unref();
    this.#faults = faults;
    this.#traffic = traffic;
    this.#gone = gone;
    this.#toServer = new DelayLine((passage) => this.#deliverToServer(passage));
    this.#toClient = new DelayLine((passage) => this.#deliverToClient(passage));

    client.on('data', (bytes: Buffer) => this.#toServer.push(bytes, faults.toServerMs));
    client.on('end', () => this.#toServer.push(END, faults.toServerMs));
    client.on('error', () => this.destroy()); // nothing to report: the server just sees it close
    client.on('close', () => this.destroy());

    server.on('data', (bytes: Buffer) => this.#replied(bytes));
    server.on('end', () => this.#toClient.push(this.#replyDropped ? CUT : END, faults.toClientMs));
    server.on('error', () => this.#serverLost());
  }

  /** Closes both sockets at once. Safe to repeat. */
  destroy(): void {
    this.#toServer.clear();
    this.#toClient.clear();
    this.#client.destroy();
    this.#server.destroy();
    this.#replyCut?.failed('the connection ended before the reply could be dropped');
    this.#gone();
  }

  #replied(bytes: Buffer): void {
    if (this.#replyCut === undefined) {
      this.#toClient.push(bytes, this.#faults.toClientMs);
      return;
    }
    this.#replyDropped = true;
    // Redis executes all it was sent before it notices this end, and answers with its own.
    this.#server.end();
  }

  #serverLost(): void {
    if (this.#replyDropped) this.#toClient.push(CUT, this.#faults.toClientMs);
    else if (!this.#faults.blackholed) this.destroy();
  }

  #deliverToServer(passage: Buffer | typeof END): void {
    if (this.#faults.blackholed || !this.#server.writable) return;
    if (passage === END) {
      this.#server.end();
      return;
    }
    this.#replyCut ??= this.#faults.replyCuts.claim(passage);
    this.#traffic.bytesToServer += passage.length;
    this.#server.write(passage);
  }

  #deliverToClient(passage: Buffer | typeof END | typeof CUT): void {
    if (this.#faults.blackholed || !this.#client.writable) return;
    if (passage === END) {
      this.#client.end();
    } else if (passage === CUT) {
      this.#traffic.cuts += 1;
      this.#replyCut?.done();
      this.destroy();
    } else {
      this.#traffic.bytesToClient += passage.length;
      this.#client.write(passage);
    }
  }
}
