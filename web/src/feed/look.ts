// The book as the page shows it: grouped, summed, in texts, and still where the pointer is.

import { group, type Book, type BookLevel, type Grouped } from '../../client/book';
import { formatFixed } from '../../client/decimal';
import type { BookView, Lens, Point, Row } from './protocol';
import { thousandths } from './pixels';

/** DEPTH_POINTS bounds the steps of a side of the depth chart. */
const DEPTH_POINTS = 160;

/** Looker turns a book into views, and remembers the rows that stand still. */
export class Looker {
  lens: Lens = { step: 1n, rows: 20, held: null, depth: false };
  #held: { side: 'BUY' | 'SELL'; prices: bigint[] } | null = null;
  #shown: Record<'BUY' | 'SELL', bigint[]> = { BUY: [], SELL: [] };

  /** look takes a new lens. */
  look(lens: Lens): void {
    this.lens = lens;
    if (lens.held === null) this.#held = null;
    else if (this.#held?.side !== lens.held) this.#held = { side: lens.held, prices: this.#shown[lens.held] };
  }

  /** view returns what the page shows of a book. */
  view(book: Book): BookView {
    const bids = this.#rows(book.bids, 'BUY');
    const asks = this.#rows(book.asks, 'SELL');
    const longest = greatest([...bids, ...asks].map((row) => row.sum));
    const write = (row: Grouped): Row => ({
      price: formatFixed(row.price, book.quotePrecision),
      amount: formatFixed(row.lots, book.basePrecision),
      sum: formatFixed(row.sum, book.basePrecision),
      share: thousandths(row.sum, longest),
    });

    const [bid] = book.bids;
    const [ask] = book.asks;
    return {
      seq: book.seq,
      bids: bids.map(write),
      asks: asks.map(write),
      bid: bid?.text[0] ?? '',
      ask: ask?.text[0] ?? '',
      spread: bid && ask ? formatFixed(ask.price - bid.price, book.quotePrecision) : '',
      depth: this.lens.depth ? depthOf(book) : null,
    };
  }

  #rows(levels: readonly BookLevel[], side: 'BUY' | 'SELL'): Grouped[] {
    const { step, rows } = this.lens;
    if (this.#held?.side === side && this.#held.prices.length > 0) {
      return still(group(levels, step, side, levels.length), this.#held.prices, side);
    }
    const grouped = group(levels, step, side, rows);
    this.#shown[side] = grouped.map((row) => row.price);
    return grouped;
  }
}

/** still puts the present amounts into rows of given prices; a row whose levels are gone has none. */
function still(now: readonly Grouped[], prices: readonly bigint[], side: 'BUY' | 'SELL'): Grouped[] {
  const at = new Map(now.map((row) => [row.price, row]));
  return prices.map((price) => {
    const row = at.get(price);
    if (row) return row;
    let sum = 0n;
    for (const better of now) {
      if (side === 'BUY' ? better.price < price : better.price > price) break;
      sum = better.sum;
    }
    return { price, lots: 0n, sum };
  });
}

/** depthOf returns the points of the depth chart: both sides as far from the middle as the nearer end. */
function depthOf(book: Book): { bids: Point[]; asks: Point[] } {
  const [bid] = book.bids;
  const [ask] = book.asks;
  if (!bid || !ask) return { bids: [], asks: [] };

  const middle = (bid.price + ask.price) / 2n;
  const reach = middle / 20n + (ask.price - bid.price);
  const sides = [cumulate(book.bids, middle, reach), cumulate(book.asks, middle, reach)];
  const most = greatest(sides.flat().map((row) => row.sum));
  const [bids = [], asks = []] = sides.map((side) =>
    thin(side).map((row) => ({
      price: formatFixed(row.price, book.quotePrecision),
      sum: formatFixed(row.sum, book.basePrecision),
      across: thousandths(distance(row.price, middle), reach),
      share: thousandths(row.sum, most),
    })),
  );
  return { bids, asks };
}

function cumulate(levels: readonly BookLevel[], middle: bigint, reach: bigint): Grouped[] {
  const rows: Grouped[] = [];
  let sum = 0n;
  for (const { price, lots } of levels) {
    if (distance(price, middle) > reach) break;
    sum += lots;
    rows.push({ price, lots, sum });
  }
  return rows;
}

/** thin keeps at most DEPTH_POINTS rows, the first and the last among them. */
function thin(rows: readonly Grouped[]): readonly Grouped[] {
  if (rows.length <= DEPTH_POINTS) return rows;
  const every = Math.ceil(rows.length / DEPTH_POINTS);
  return rows.filter((_, at) => at % every === 0 || at === rows.length - 1);
}

function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b;
}

function greatest(sums: readonly bigint[]): bigint {
  return sums.reduce((most, sum) => (sum > most ? sum : most), 0n);
}
