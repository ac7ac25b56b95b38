// The messages between the page and its feed worker. Prices, amounts and sums are texts that are ready to be shown.

import type { Draft, Estimate, Terms } from '../../client/estimate';
import type { Message, State } from '../../client/stream';

/** Lens is how the page looks at the book. */
export interface Lens {
  /** step is the size of a row in ticks. */
  step: bigint;
  /** rows is the number of rows of a side. */
  rows: number;
  /** held keeps the rows of the sides that the pointer is over at their prices. */
  held: 'BUY' | 'SELL' | null;
  /** depth adds the points of the depth chart to each view. */
  depth: boolean;
}

export interface Watched {
  pair: string;
  basePrecision: number;
  quotePrecision: number;
  resolution: string;
}

/** Sketch is an order to estimate again whenever the book changes. */
export interface Sketch {
  /** number tells an estimate of this sketch from those of earlier ones. */
  number: number;
  terms: Terms;
  draft: Draft;
  funds: bigint;
}

export type Command =
  | { do: 'connect'; url: string }
  | { do: 'reconnect' }
  | { do: 'wake' }
  | { do: 'follow'; stream: string }
  | { do: 'unfollow'; stream: string }
  | { do: 'watch'; market: Watched | null }
  | { do: 'resolution'; resolution: string }
  | { do: 'look'; lens: Lens }
  | { do: 'sketch'; sketch: Sketch | null };

/** Row is a row of the book. */
export interface Row {
  price: string;
  amount: string;
  sum: string;
  /** share is the sum's share of the longer side's, in thousandths. */
  share: number;
}

/** Point is a step of the depth chart: a price and the sum from the best price to it. */
export interface Point {
  price: string;
  sum: string;
  /** across is the distance from the middle, and share the sum, in thousandths of the greatest shown. */
  across: number;
  share: number;
}

/** BookView is the book as the page shows it, best rows first. */
export interface BookView {
  seq: number;
  bids: Row[];
  asks: Row[];
  /** bid and ask are the best prices, empty without one. */
  bid: string;
  ask: string;
  spread: string;
  depth: { bids: Point[]; asks: Point[] } | null;
}

/** TapeRow is a trade. */
export interface TapeRow {
  id: number;
  price: string;
  amount: string;
  side: 'BUY' | 'SELL';
  /** time is in seconds. */
  time: number;
}

/** CandleRow is a candle; its volume is in the base asset. */
export interface CandleRow {
  time: number;
  open: string;
  high: string;
  low: string;
  close: string;
  volume: string;
}

/** Frame is what changed since the last one; a field that did not change is left out. */
export interface Frame {
  state?: State;
  pair?: string;
  /** book is null while there is none. */
  book?: BookView | null;
  /** tape has new trades, oldest first; gap tells that older ones are missing. */
  tape?: { rows: TapeRow[]; gap: boolean };
  candles?: CandleRow[];
  estimate?: { number: number; estimate: Estimate };
  messages?: Message[];
  /** ready are streams of events that are subscribed now. */
  ready?: string[];
  ended?: string;
}
