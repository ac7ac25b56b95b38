// Markets as /web/markets lists them, and their terms for the engine's rules.

import { parse, parseRate } from '../../client/decimal';
import type { Terms } from '../../client/estimate';

/** Day is the price of a market and what became of it in 24 hours, as /web/markets and the stream tickers write it. */
export interface Day {
  pair: string;
  price: string;
  price_24h: string;
  high: string;
  low: string;
  vol_base: string;
  vol_quote: string;
}

export interface Market extends Day {
  base: string;
  quote: string;
  base_name: string;
  quote_name: string;
  base_precision: number;
  quote_precision: number;
  base_scale: number;
  quote_scale: number;
  state: 'open' | 'cancel_only' | 'halted';
  min_order: string;
  max_price: string;
  initial_price: string;
  /** Fees and the collar are in percent, the band is a ratio; null is no bound. */
  maker_fee: string;
  taker_fee: string;
  collar: string | null;
  band: string | null;
  /** closes are the prices at the last full hours, oldest first. */
  closes: string[];
}

/** Fees are an account's rates in a market, in percent. */
export interface Fees {
  maker_fee: string;
  taker_fee: string;
}

/** termsOf returns the rules of a market, with an account's rates and the price of the last trade. */
export function termsOf(m: Market, fees: Fees, last: string): Terms {
  return {
    basePrecision: m.base_precision,
    quotePrecision: m.quote_precision,
    baseScale: m.base_scale,
    quoteScale: m.quote_scale,
    open: m.state === 'open',
    minOrder: parse(m.min_order, m.quote_scale),
    maxPrice: parse(m.max_price, m.quote_precision),
    initialPrice: parse(m.initial_price, m.quote_precision),
    last: parse(last, m.quote_precision),
    collar: m.collar === null ? 0n : parseRate(m.collar),
    band: m.band === null ? 0n : parse(m.band, 6),
    maker: parseRate(fees.maker_fee),
    taker: parseRate(fees.taker_fee),
  };
}

/** changeOf returns a change in hundredths of a percent, rounded to zero. */
export function changeOf(price: string, before: string, precision: number): bigint {
  const then = parse(before, precision);
  return then === 0n ? 0n : ((parse(price, precision) - then) * 10_000n) / then;
}

/** linkOf returns the address of a market's page. */
export function linkOf(pair: string): string {
  return `/trade/${pair.replace('/', '-')}`;
}
