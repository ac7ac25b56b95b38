import { changeOf, type Market } from '../feed/markets';
import { units } from '../wallet/amounts';
import { Rates } from '../wallet/worth';

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

/** arrange returns the wished markets in order. Prices and volumes in different assets are compared by what they are worth. */
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
  const rank = ranking(column, markets);
  const ranks = new Map(found.map((market) => [market.pair, rank(market)]));
  const compare = (a: M, b: M): number => (column === 'pair' ? 0 : order(ranks.get(a.pair) ?? 0n, ranks.get(b.pair) ?? 0n));
  return found.sort((a, b) => turn * compare(a, b) || (column === 'pair' ? turn : 1) * (a.pair < b.pair ? -1 : 1));
}

/** ranking returns what a column's figures compare by. */
function ranking(column: Column, markets: readonly Market[]): (of: Market) => bigint {
  if (column === 'pair') return () => 0n;
  if (column === 'change') return change;

  const rates = new Rates(markets, commonest(markets.map((market) => market.quote)));
  const figure = column === 'price' ? 'price' : 'vol_quote';
  return (market) => rates.worth(market.quote, units(market[figure])) ?? -1n; // of no known worth: below all others
}

/** commonest returns the asset that most markets are quoted in. */
function commonest(quotes: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const quote of quotes) counts.set(quote, (counts.get(quote) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}

function change(m: Market): bigint {
  return changeOf(m.price, m.price_24h, m.quote_precision);
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
