// A market's book, kept from the messages of PAIR@book: a snapshot, then changes that follow one another.

import { parseFixed } from './decimal';

/** Row is a level as a message writes it: with all decimals; an amount of "0" is a level that is gone. */
export type Row = readonly [price: string, amount: string];

/** BookMessage is a snapshot if it has no prev, else a change that follows the message with seq prev. */
export interface BookMessage {
  prev?: number;
  seq: number;
  bids: readonly Row[];
  asks: readonly Row[];
}

/** snapshotOf returns the message of a reset, whose state is the answer of /spot/orderbook. */
export function snapshotOf(state: unknown, seq: number): BookMessage {
  const { bids, asks } = state as Record<'bids' | 'asks', { price: string; amount: string }[]>;
  const rows = (side: { price: string; amount: string }[]): Row[] => side.map(({ price, amount }) => [price, amount]);
  return { seq, bids: rows(bids), asks: rows(asks) };
}

/** BookLevel is a level, in ticks and lots and as it was written. */
export interface BookLevel {
  readonly price: bigint;
  readonly lots: bigint;
  readonly text: Row;
}

/** Grouped is a row of a grouped book. sum counts the lots from the best price to this row. */
export interface Grouped {
  price: bigint;
  lots: bigint;
  sum: bigint;
}

/** Book keeps the levels of a market, best first. Not usable before its first snapshot. */
export class Book {
  bids: BookLevel[] = [];
  asks: BookLevel[] = [];
  /** seq is the sequence of the last message, -1 before the first snapshot. */
  seq = -1;

  constructor(
    readonly basePrecision: number,
    readonly quotePrecision: number,
  ) {}

  /**
   * apply takes a message. It returns false for a change that does not follow the last message: the book is
   * then empty, and the caller must ask for a new snapshot. A text with other decimals than the market's
   * throws a DecimalError.
   */
  apply(message: BookMessage): boolean {
    if (message.prev === undefined) {
      this.bids = [];
      this.asks = [];
    } else if (message.seq <= this.seq) {
      return true;
    } else if (message.prev !== this.seq) {
      this.clear();
      return false;
    }
    for (const row of message.bids) {
      this.set(this.bids, row, true);
    }
    for (const row of message.asks) {
      this.set(this.asks, row, false);
    }
    this.seq = message.seq;
    return true;
  }

  /** clear forgets the book. */
  clear(): void {
    this.bids = [];
    this.asks = [];
    this.seq = -1;
  }

  private set(levels: BookLevel[], text: Row, descending: boolean): void {
    const price = parseFixed(text[0], this.quotePrecision);
    const lots = text[1] === '0' ? 0n : parseFixed(text[1], this.basePrecision);
    let low = 0;
    let high = levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = levels[middle]?.price ?? 0n;
      if (descending ? at > price : at < price) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const found = levels[low]?.price === price;
    if (lots === 0n) {
      levels.splice(low, found ? 1 : 0);
    } else {
      levels.splice(low, found ? 1 : 0, { price, lots, text });
    }
  }
}

/** group sums levels into rows of a step in ticks: bids down to it, asks up to it. */
export function group(levels: readonly BookLevel[], step: bigint, side: 'BUY' | 'SELL', rows: number): Grouped[] {
  const grouped: Grouped[] = [];
  let sum = 0n;
  for (const { price, lots } of levels) {
    const at = side === 'BUY' ? price - (price % step) : price + ((step - (price % step)) % step);
    const last = grouped[grouped.length - 1];
    if (last !== undefined && last.price === at) {
      last.lots += lots;
      last.sum = sum += lots;
      continue;
    }
    if (grouped.length === rows) {
      break;
    }
    grouped.push({ price: at, lots, sum: (sum += lots) });
  }
  return grouped;
}
