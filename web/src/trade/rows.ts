import { formatFixed, parse } from '../../client/decimal';
import type { OpenOrder } from '../../client/orders';
import type { Market } from '../feed/markets';

/** ROW is the height of a row of the book and the tape, in pixels. */
export const ROW = 20;

/** marked returns the rows of the book that have own orders, as "SIDE PRICE". */
export function marked(orders: readonly OpenOrder[], m: Market, step: bigint): Set<string> {
  const rows = new Set<string>();
  for (const { pair, side, price, filled } of orders) {
    if (pair !== m.pair || price === undefined || filled === undefined) continue;
    const ticks = parse(price, m.quote_precision);
    const below = ticks - (ticks % step);
    const row = side === 'BUY' || below === ticks ? below : below + step;
    rows.add(`${side} ${formatFixed(row, m.quote_precision)}`);
  }
  return rows;
}
