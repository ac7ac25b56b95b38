// The order that a form describes: its numbers, their faults, and its form for the exchange.

import { DecimalError, format, min, mulDiv, parse, parseCount, type Fault } from '../../client/decimal';
import { hasPrice, hasStop, lotUnit, totalOf, type Draft, type OrderType, type Side, type Terms, type TimeInForce } from '../../client/estimate';
import type { Market } from '../feed/markets';

/** Fields are what the form holds. */
export interface Fields {
  side: Side;
  type: OrderType;
  timeInForce: TimeInForce;
  price: string;
  stop: string;
  amount: string;
  total: string;
  /** by names the one of amount and total that was typed; the other follows where there is a price. */
  by: 'amount' | 'total';
  postOnly: boolean;
}

export type FieldName = 'price' | 'stop' | 'amount' | 'total';

/** Reading is a form's order, or what is wrong with its fields. An empty field is no fault, and no order. */
export interface Reading {
  draft: Draft | null;
  faults: Partial<Record<FieldName, Fault>>;
}

/** takesTotal reports whether an order may be given by its total: one without a price, but no SELL behind a stop. */
export function takesTotal(type: OrderType, side: Side): boolean {
  return !hasPrice(type) && !(hasStop(type) && side === 'SELL');
}

/** read reads a form. */
export function read(f: Fields, m: Market): Reading {
  const faults: Reading['faults'] = {};
  const number = (name: FieldName, scale: number, from: (text: string, scale: number) => bigint): bigint => {
    try {
      return f[name] === '' ? 0n : from(f[name], scale);
    } catch (error) {
      if (!(error instanceof DecimalError)) throw error;
      faults[name] = error.fault;
      return 0n;
    }
  };

  const price = hasPrice(f.type) ? number('price', m.quote_precision, parseCount) : 0n;
  const stop = hasStop(f.type) ? number('stop', m.quote_precision, parseCount) : 0n;
  const byTotal = takesTotal(f.type, f.side) && f.by === 'total';
  const lots = byTotal ? 0n : number('amount', m.base_precision, parseCount);
  const total = byTotal ? number('total', m.quote_scale, parse) : 0n;

  const complete =
    (!hasPrice(f.type) || price > 0n) && (!hasStop(f.type) || stop > 0n) && (lots > 0n || total > 0n);
  if (!complete || Object.keys(faults).length > 0) return { draft: null, faults };
  const { side, type, timeInForce } = f;
  return { draft: { side, type, timeInForce, postOnly: isPostOnly(f), price, stop, lots, total }, faults };
}

/** isPostOnly reports whether an order that only makes is asked for, and may be. */
export function isPostOnly(f: Fields): boolean {
  return f.postOnly && f.type === 'LIMIT' && f.timeInForce === 'GTC';
}

/** bodyOf returns the request for an order. */
export function bodyOf(d: Draft, m: Market, clientID: string): Record<string, string | boolean> {
  return {
    pair: m.pair,
    side: d.side,
    type: d.type,
    time_in_force: d.timeInForce,
    ...(d.price > 0n && { price: format(d.price, m.quote_precision) }),
    ...(d.stop > 0n && { stop: format(d.stop, m.quote_precision) }),
    ...(d.lots > 0n && { amount: format(d.lots, m.base_precision) }),
    ...(d.total > 0n && { total: format(d.total, m.quote_scale) }),
    ...(d.postOnly && { post_only: true }),
    client_id: clientID,
    resp_type: 'RESULT',
  };
}

/** amountFor returns the amount that a total buys at a price, rounded down to a lot; empty without both. */
export function amountFor(total: string, price: string, m: Market, t: Terms): string {
  try {
    const lots = parse(total, m.quote_scale) / totalOf(t, parseCount(price, m.quote_precision), 1n);
    return format(lots, m.base_precision);
  } catch {
    return '';
  }
}

/** totalFor returns the total of an amount at a price; empty without both. */
export function totalFor(amount: string, price: string, m: Market, t: Terms): string {
  try {
    const total = totalOf(t, parseCount(price, m.quote_precision), parse(amount, m.base_precision));
    return format(total, m.quote_scale);
  } catch {
    return '';
  }
}

/** share returns what a form's fields become when it asks for some hundredths of the available funds. */
export function share(percent: bigint, f: Fields, m: Market, t: Terms, funds: bigint): Partial<Fields> {
  const part = mulDiv(funds, percent, 100n);
  if (f.side === 'SELL') {
    return { by: 'amount', amount: format(part / lotUnit(t), m.base_precision), total: '' };
  }
  if (takesTotal(f.type, f.side)) {
    return { by: 'total', total: format(part, m.quote_scale), amount: '' };
  }
  const amount = amountFor(format(part, m.quote_scale), f.price, m, t);
  return { by: 'amount', amount, total: '' };
}

/** farOff returns by how many hundredths of a percent a price is worse than the last one; zero for none. */
export function farOff(side: Side, price: bigint, last: bigint): bigint {
  if (price === 0n || last === 0n) return 0n;
  const worse = side === 'BUY' ? price - last : last - price;
  return worse <= 0n ? 0n : (worse * 10_000n) / last;
}

/** ticked returns a price moved by whole ticks, at least one tick. */
export function ticked(price: string, ticks: bigint, m: Market): string {
  try {
    const moved = parse(price, m.quote_precision) + ticks;
    return format(moved < 1n ? 1n : min(moved, parse(m.max_price, m.quote_precision)), m.quote_precision);
  } catch {
    return price;
  }
}
