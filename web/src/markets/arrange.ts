import { parse } from '../../client/decimal';
import { changeOf, type Market } from '../feed/markets';

export type Column = 'pair' | 'price' | 'change' | 'volume';

/** Wish is what a visitor wants to see. */
export interface Wish {
  search: string;
  quote: string;
  /** favourites are the only pairs to show; null shows all. */
  favourites: readonly string[] | null;
  /** sort is a column, with a minus for the greatest first. */
  sort: string;
}

/** arrange returns the wished markets in order. Volumes of different quote assets are compared by their figures. */
export function arrange<M extends Market>(markets: readonly M[], wish: Wish): M[] {
  const needle = wish.search.trim().toLowerCase();
  const found = markets.filter(
    (m) =>
      (wish.quote === '' || m.quote === wish.quote) &&
      (wish.favourites === null || wish.favourites.includes(m.pair)) &&
      `${m.pair} ${m.base}${m.quote} ${m.base_name} ${m.quote_name}`.toLowerCase().includes(needle),
  );

  const turn = wish.sort.startsWith('-') ? -1 : 1;
  const column = wish.sort.replace('-', '') as Column;
  return found.sort((a, b) => turn * compare(column, a, b) || (a.pair < b.pair ? -1 : 1));
}

/** SCALE is the greatest scale of an asset: figures of all markets compare at it. */
const SCALE = 19;

function compare(column: Column, a: Market, b: Market): number {
  switch (column) {
    case 'price':
      return order(parse(a.price, SCALE), parse(b.price, SCALE));
    case 'change':
      return order(change(a), change(b));
    case 'volume':
      return order(parse(a.vol_quote, SCALE), parse(b.vol_quote, SCALE));
    default:
      return a.pair < b.pair ? -1 : a.pair > b.pair ? 1 : 0;
  }
}

function change(m: Market): bigint {
  return changeOf(m.price, m.price_24h, m.quote_precision);
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
