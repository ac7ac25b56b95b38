// The effect of an order now, by the engine's own integer rules: its hold, trades, fees and remainder.
//
// The book of a client counts quantities by level. An estimate takes each level as one order; a level of n
// orders rounds its fee up n times, so the fee may be n-1 ledger units more. Own orders on the other side,
// which self-trade prevention may skip, count as others' orders.

import { feeOn, max, MAX_AMOUNT, MAX_COUNT, min, mulDiv, pow10, RATE_ONE } from './decimal';

export type Side = 'BUY' | 'SELL';
export type OrderType =
  | 'LIMIT'
  | 'MARKET'
  | 'STOP_LIMIT'
  | 'STOP_MARKET'
  | 'TAKE_PROFIT_LIMIT'
  | 'TAKE_PROFIT_MARKET';
export type TimeInForce = 'GTC' | 'FOK' | 'IOC';

/** Reason names why the exchange would reject an order. */
export type Reason =
  | 'MARKET_CLOSED'
  | 'PRICE_OUT_OF_RANGE'
  | 'OVERFLOW'
  | 'INSUF_TRADE_AMOUNT'
  | 'WOULD_TAKE'
  | 'NO_COLLAR'
  | 'INSUF_FUNDS';

/** Terms are a market's rules, in ticks, lots and ledger units. */
export interface Terms {
  basePrecision: number;
  quotePrecision: number;
  baseScale: number;
  quoteScale: number;
  open: boolean;
  /** minOrder is the least value of an order in ledger units of the quote asset. */
  minOrder: bigint;
  maxPrice: bigint;
  initialPrice: bigint;
  /** last is the price of the last trade, zero before the first. */
  last: bigint;
  /** collar and band are shares in millionths; zero is no bound. */
  collar: bigint;
  band: bigint;
  /** maker and taker are the account's fee rates in millionths. */
  maker: bigint;
  taker: bigint;
}

/** Draft is an order to estimate. Exactly one of lots and total is above zero; price and stop may be zero. */
export interface Draft {
  side: Side;
  type: OrderType;
  timeInForce: TimeInForce;
  postOnly: boolean;
  price: bigint;
  stop: bigint;
  lots: bigint;
  total: bigint;
}

/** Level is a price in ticks and its quantity in lots. */
export type Level = readonly [price: bigint, lots: bigint];

/** Estimate says what an order would do. Amounts are in ledger units of their asset. */
export interface Estimate {
  refusal: Reason | null;
  /** waits is true for an order whose stop the last price has not reached. */
  waits: boolean;
  /** hold is what the order holds when it is accepted: quote for a BUY, base for a SELL. */
  hold: bigint;
  /** filled counts the lots that trade at once, base and quote what they move. */
  filled: bigint;
  base: bigint;
  quote: bigint;
  /** fee is taken from what the order receives: base for a BUY, quote for a SELL. */
  fee: bigint;
  /** worst is the price of the last trade, zero without one. */
  worst: bigint;
  /** rests counts the lots that stay in the book, killed those that end without a trade. */
  rests: bigint;
  killed: bigint;
  /** restHold is what the order still holds once it rests or waits. */
  restHold: bigint;
}

/** lotUnit returns the ledger units of the base asset in a lot. */
export function lotUnit(t: Terms): bigint {
  return pow10(t.baseScale - t.basePrecision);
}

/** totalUnit returns the ledger units of the quote asset in a tick times a lot. */
export function totalUnit(t: Terms): bigint {
  return pow10(t.quoteScale - t.quotePrecision - t.basePrecision);
}

/** totalOf returns price × lots in ledger units of the quote asset. */
export function totalOf(t: Terms, price: bigint, lots: bigint): bigint {
  return price * lots * totalUnit(t);
}

/** hasPrice reports whether orders of a type name a price. */
export function hasPrice(type: OrderType): boolean {
  return type === 'LIMIT' || type === 'STOP_LIMIT' || type === 'TAKE_PROFIT_LIMIT';
}

/** hasStop reports whether orders of a type wait for a trade at their stop. */
export function hasStop(type: OrderType): boolean {
  return type !== 'LIMIT' && type !== 'MARKET';
}

/** fires reports whether a trade at a price triggers an order. */
export function fires(d: Draft, price: bigint): boolean {
  const takesProfit = d.type.startsWith('TAKE_PROFIT');
  return (d.side === 'BUY') !== takesProfit ? price >= d.stop : price <= d.stop;
}

/**
 * estimate returns what an order would do. levels are those of the other side, best first. funds is what the
 * account has available of the asset that the order holds.
 */
export function estimate(t: Terms, d: Draft, levels: Iterable<Level>, funds: bigint): Estimate {
  const e: Estimate = {
    refusal: null,
    waits: false,
    hold: 0n,
    filled: 0n,
    base: 0n,
    quote: 0n,
    fee: 0n,
    worst: 0n,
    rests: 0n,
    killed: 0n,
    restHold: 0n,
  };
  e.refusal = admit(t, d, levels, funds, e);
  if (e.refusal !== null) {
    e.hold = 0n;
    return e;
  }
  if (hasStop(d.type) && !(t.last !== 0n && fires(d, t.last))) {
    e.waits = true;
    e.restHold = e.hold;
    return e;
  }
  work(t, d, levels, e);
  return e;
}

function lastPrice(t: Terms): bigint {
  return t.last === 0n ? t.initialPrice : t.last;
}

/** admit checks an order as the exchange does, in its order, and sets its hold. */
function admit(t: Terms, d: Draft, levels: Iterable<Level>, funds: bigint, e: Estimate): Reason | null {
  if (!t.open) {
    return 'MARKET_CLOSED';
  }
  let refusal: Reason | null;
  if (hasPrice(d.type)) {
    refusal = admitPriced(t, d, levels, e);
  } else if (hasStop(d.type)) {
    refusal = admitBehindStop(t, d, e);
  } else {
    return admitMarket(t, d, levels, funds, e);
  }
  return refusal ?? (e.hold > funds ? 'INSUF_FUNDS' : null);
}

function admitPriced(t: Terms, d: Draft, levels: Iterable<Level>, e: Estimate): Reason | null {
  const stops = hasStop(d.type);
  if (d.price > t.maxPrice || d.stop > t.maxPrice || !inBand(t, d.price) || (stops && !inBand(t, d.stop))) {
    return 'PRICE_OUT_OF_RANGE';
  }
  const total = totalOf(t, d.price, d.lots);
  if (total > MAX_AMOUNT) {
    return 'OVERFLOW';
  }
  if (totalOf(t, min(d.price, lastPrice(t)), d.lots) < t.minOrder) {
    return 'INSUF_TRADE_AMOUNT';
  }
  const best = first(levels);
  if (d.postOnly && best !== undefined && reaches(d.side, best[0], d.price)) {
    return 'WOULD_TAKE';
  }
  e.hold = d.side === 'BUY' ? total : d.lots * lotUnit(t);
  return null;
}

function admitBehindStop(t: Terms, d: Draft, e: Estimate): Reason | null {
  if (d.stop > t.maxPrice || !inBand(t, d.stop)) {
    return 'PRICE_OUT_OF_RANGE';
  }
  const capped = d.side === 'BUY' && d.lots > 0n;
  if (capped && t.collar === 0n) {
    return 'NO_COLLAR';
  }
  const spent = capped ? totalOf(t, capOf(t, d), d.lots) : d.total;
  const value = d.lots > 0n ? totalOf(t, min(d.stop, lastPrice(t)), d.lots) : d.total;
  if (spent > MAX_AMOUNT || value > MAX_AMOUNT) {
    return 'OVERFLOW';
  }
  if (value < t.minOrder) {
    return 'INSUF_TRADE_AMOUNT';
  }
  e.hold = d.side === 'BUY' ? spent : d.lots * lotUnit(t);
  return null;
}

function admitMarket(t: Terms, d: Draft, levels: Iterable<Level>, funds: bigint, e: Estimate): Reason | null {
  const best = first(levels);
  if (d.lots > 0n && best !== undefined) {
    const value = totalOf(t, min(best[0], lastPrice(t)), d.lots);
    if (value > MAX_AMOUNT) {
      return 'OVERFLOW';
    }
    if (value < t.minOrder) {
      return 'INSUF_TRADE_AMOUNT';
    }
  }
  if (d.total > 0n && d.total < t.minOrder) {
    return 'INSUF_TRADE_AMOUNT';
  }
  const buys = d.side === 'BUY';
  const asksBook = d.lots > 0n === buys;
  if (asksBook) {
    e.hold = quoteBook(t, d, levels).hold;
  } else {
    e.hold = buys ? d.total : d.lots * lotUnit(t);
  }
  return e.hold > funds ? 'INSUF_FUNDS' : null;
}

interface Quote {
  lots: bigint;
  hold: bigint;
  complete: boolean;
}

/** quoteBook returns what a MARKET order gets of the book, and what that needs as a hold. */
function quoteBook(t: Terms, d: Draft, levels: Iterable<Level>): Quote {
  const q: Quote = { lots: 0n, hold: 0n, complete: false };
  const limit = limitOf(t, d);
  let budget = d.total;
  let unit = 0n;
  for (const [price, amount] of levels) {
    unit = totalOf(t, price, 1n);
    if (limit !== 0n && !reaches(d.side, price, limit)) {
      break;
    }
    const want = wanted(d, q.lots, budget, unit);
    const take = min(want, amount);
    q.lots += take;
    if (d.side === 'SELL') {
      q.hold = q.lots * lotUnit(t);
    } else if (d.total === 0n) {
      q.hold += totalOf(t, price, take);
    }
    budget = max(budget - unit * take, 0n);
    if (want <= amount) {
      break;
    }
  }
  q.complete = q.lots > 0n && satisfied(d, q.lots, budget, unit);
  return q;
}

function wanted(d: Draft, taken: bigint, budget: bigint, unit: bigint): bigint {
  if (d.total === 0n) {
    return d.lots - taken;
  }
  const lots = d.side === 'SELL' ? (budget + unit - 1n) / unit : budget / unit;
  return min(min(lots, MAX_COUNT), MAX_COUNT - taken);
}

function satisfied(d: Draft, taken: bigint, budget: bigint, unit: bigint): boolean {
  if (d.total === 0n) {
    return taken === d.lots;
  }
  return taken === MAX_COUNT || (d.side === 'BUY' ? budget < unit : budget === 0n);
}

/** work trades an order with the levels, then rests or kills what is left. */
function work(t: Terms, d: Draft, levels: Iterable<Level>, e: Estimate): void {
  const limit = limitOf(t, d);
  let left = d.lots;
  const bySpending = d.side === 'BUY' && d.lots === 0n;
  if (d.side === 'SELL' && d.lots === 0n) {
    const q = quoteBook(t, d, levels);
    left = q.complete ? q.lots : MAX_COUNT;
  }
  let held = e.hold;
  if (d.timeInForce !== 'FOK' || canFill(t, d, limit, levels)) {
    for (const [price, amount] of levels) {
      left = bySpending ? spendable(t, held, price, e.filled) : left;
      if (left === 0n || (limit !== 0n && !reaches(d.side, price, limit))) {
        break;
      }
      const lots = min(left, amount);
      held -= fill(t, d, price, lots, e);
      left -= lots;
    }
  } else if (bySpending) {
    left = 1n;
  }
  settleRest(d, left, held, levels, e);
}

function spendable(t: Terms, held: bigint, price: bigint, filled: bigint): bigint {
  return min(min(held / totalOf(t, price, 1n), MAX_COUNT), MAX_COUNT - filled);
}

/** fill adds a trade to an estimate and returns the part of the hold that it uses or frees. */
function fill(t: Terms, d: Draft, price: bigint, lots: bigint, e: Estimate): bigint {
  const base = lots * lotUnit(t);
  const quote = totalOf(t, price, lots);
  e.filled += lots;
  e.base += base;
  e.quote += quote;
  e.fee += feeOn(t.taker, d.side === 'BUY' ? base : quote);
  e.worst = price;
  if (d.side === 'SELL') {
    return base;
  }
  const capped = hasPrice(d.type) ? d.price : hasStop(d.type) && d.lots > 0n ? capOf(t, d) : 0n;
  return max(quote, totalOf(t, capped, lots));
}

function settleRest(
  d: Draft,
  left: bigint,
  held: bigint,
  levels: Iterable<Level>,
  e: Estimate,
): void {
  if (d.lots === 0n) {
    return;
  }
  if (left > 0n && d.timeInForce === 'GTC' && hasPrice(d.type) && mayRest(d, levels, e)) {
    e.rests = left;
    e.restHold = held;
    return;
  }
  e.killed = left;
}

/** mayRest is false for a triggered stop whose price still crosses the book beyond its collar. */
function mayRest(d: Draft, levels: Iterable<Level>, e: Estimate): boolean {
  if (d.type === 'LIMIT') {
    return true;
  }
  let traded = e.filled;
  for (const [price, amount] of levels) {
    if (traded >= amount) {
      traded -= amount;
      continue;
    }
    return !reaches(d.side, price, d.price);
  }
  return true;
}

function canFill(t: Terms, d: Draft, limit: bigint, levels: Iterable<Level>): boolean {
  if (d.type === 'MARKET') {
    return quoteBook(t, d, levels).complete;
  }
  let budget = d.lots === 0n ? d.total : 0n;
  let taken = 0n;
  let unit = 0n;
  for (const [price, amount] of levels) {
    unit = totalOf(t, price, 1n);
    if (limit !== 0n && !reaches(d.side, price, limit)) {
      break;
    }
    const want = wanted(d, taken, budget, unit);
    const take = min(want, amount);
    taken += take;
    budget = max(budget - unit * take, 0n);
    if (want <= amount) {
      break;
    }
  }
  return taken > 0n && satisfied(d, taken, budget, unit);
}

/** limitOf returns the worst price at which an order trades, zero for any. */
function limitOf(t: Terms, d: Draft): bigint {
  let limit = hasPrice(d.type) ? d.price : 0n;
  if (d.type === 'LIMIT') {
    return limit;
  }
  if (!hasPrice(d.type) && hasStop(d.type) && d.side === 'BUY' && d.lots > 0n) {
    limit = capOf(t, d);
  }
  if (t.collar === 0n) {
    return limit;
  }
  const bound = boundOf(t, lastPrice(t), d.side);
  return limit === 0n || reaches(d.side, bound, limit) ? bound : limit;
}

/** capOf returns the worst price of a BUY by amount behind a stop: the collar around its trigger. */
function capOf(t: Terms, d: Draft): bigint {
  const around = t.last !== 0n && fires(d, t.last) ? t.last : d.stop;
  return min(boundOf(t, around, d.side), MAX_COUNT);
}

function boundOf(t: Terms, around: bigint, side: Side): bigint {
  const width = mulDiv(around, t.collar, RATE_ONE);
  return side === 'BUY' ? around + width : around - width;
}

/** inBand reports whether an order may name a price. */
function inBand(t: Terms, price: bigint): boolean {
  if (t.band === 0n) {
    return true;
  }
  const high = max(lastPrice(t), t.initialPrice);
  const low = min(lastPrice(t), t.initialPrice);
  return price * RATE_ONE <= high * t.band && low * RATE_ONE <= price * t.band;
}

/** reaches reports whether an order of a side with a limit trades at a price. */
function reaches(side: Side, price: bigint, limit: bigint): boolean {
  return side === 'BUY' ? price <= limit : price >= limit;
}

function first(levels: Iterable<Level>): Level | undefined {
  for (const level of levels) {
    return level;
  }
  return undefined;
}
