import type { Key } from '../texts/index.svelte';
import type { Fill } from '../trade/own.svelte';

/** Moved is what news read of a message of myTransfers. */
export interface Moved {
  type: string;
  asset: string;
  amount: string;
  status: string;
  exec_time?: string;
}

/** Said is a text of the catalogue with its values. */
export interface Said {
  key: Key;
  values: Record<string, string>;
}

/** ofFills says what was traded: a single fill with its price, several of a market as their number. */
export function ofFills(fills: readonly Fill[]): Said[] {
  const byPair = new Map<string, Fill[]>();
  for (const fill of fills) byPair.set(fill.pair, [...(byPair.get(fill.pair) ?? []), fill]);

  return [...byPair].map(([pair, list]) => {
    const [fill] = list;
    if (fill === undefined || list.length > 1) return { key: 'news.fills', values: { count: String(list.length), pair } };
    const [base = '', quote = ''] = pair.split('/');
    const values = { amount: fill.amount, base, price: fill.price, quote };
    return { key: fill.side === 'BUY' ? 'news.bought' : 'news.sold', values };
  });
}

/**
 * isBefore tells whether a transfer was done before a Unix second. Both have ten digits before the point, and compare as
 * texts. A transfer that is canceled names no time.
 */
export function isBefore({ exec_time }: Pick<Moved, 'exec_time'>, second: number): boolean {
  return exec_time !== undefined && exec_time < String(second);
}

/** moves are the ends of deposits and withdrawals that are news. */
const moves: Record<string, Key> = {
  'DEPOSIT DONE': 'news.deposited',
  'TRANSFER_IN DONE': 'news.received',
  'WITHDRAWAL DONE': 'news.withdrawn',
  'WITHDRAWAL CANCELED': 'news.canceled',
};

/** ofMove says what came or went; null for what is no news. */
export function ofMove({ type, status, asset, amount }: Moved): Said | null {
  const key = moves[`${type} ${status}`];
  return key === undefined ? null : { key, values: { amount, asset } };
}
