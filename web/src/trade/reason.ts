import { known, t } from '../texts/index.svelte';
import type { Market } from '../feed/markets';

/** reasonText says why the exchange refuses an order, and what to do next. held is the asset that the order holds. */
export function reasonText(code: string, market: Market, held: string): string {
  const key = `reason.${code}`;
  if (!known(key)) return code;
  return t(key, { asset: held, least: market.min_order, quote: market.quote });
}

/** isReason reports whether a code is a reason of the engine, which has a text of its own. */
export function isReason(code: string): boolean {
  return known(`reason.${code}`);
}
