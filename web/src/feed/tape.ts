import type { TapeRow } from './protocol';

/** TAPE is the number of trades that a page shows, which is the most that a message has. */
export const TAPE = 50;

/** TapeMessage has the newest trades behind prev, oldest first; skipped is the number of those that it leaves out. */
export interface TapeMessage {
  prev: number;
  skipped: number;
  trades: (Omit<TapeRow, 'id'> & { trade_id: number })[];
}

/** Tape gathers the trades of a stream between two frames. */
export class Tape {
  #rows: TapeRow[] = [];
  #gap = false;
  #last = 0;

  take({ prev, skipped, trades }: TapeMessage): void {
    if (skipped > 0 || (this.#last !== 0 && prev !== this.#last)) {
      this.#rows = [];
      this.#gap = true;
    }
    for (const { trade_id: id, price, amount, side, time } of trades) {
      this.#rows.push({ id, price, amount, side, time });
      this.#last = id;
    }
    this.#rows = this.#rows.slice(-TAPE);
  }

  /** drain answers the trades since the last call. A gap that the page would show is told. */
  drain(): { rows: TapeRow[]; gap: boolean } {
    const drained = { rows: this.#rows, gap: this.#gap && this.#rows.length < TAPE };
    this.#rows = [];
    this.#gap = false;
    return drained;
  }
}
