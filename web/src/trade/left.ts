import { format, parse } from '../../client/decimal';
import type { OpenOrder } from '../../client/orders';

/** leftOf writes what of an order's amount can still trade: neither filled nor taken by self-trade prevention. */
export function leftOf({ amount = '0', filled = '0', prevented = '0' }: OpenOrder, decimals: number): string {
  return format(parse(amount, decimals) - parse(filled, decimals) - parse(prevented, decimals), decimals);
}
