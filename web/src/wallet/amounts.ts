import { format, formatFixed, max, parse, pow10 } from '../../client/decimal';

/** SCALE is fine enough for every asset: amounts of all assets are counted in units of it here. */
export const SCALE = 19;

/** units reads an amount of the exchange. */
export function units(text: string): bigint {
  return parse(text, SCALE);
}

/** typed reads what a person typed; null for what is no decimal, or has more decimals than the given ones. */
export function typed(text: string, decimals: number = SCALE): bigint | null {
  try {
    parse(text.trim(), decimals);
    return parse(text.trim(), SCALE);
  } catch {
    return null;
  }
}

/** plain writes units without trailing zeros. */
export function plain(amount: bigint): string {
  return format(amount, SCALE);
}

/** padded writes an amount of the exchange with at least the decimals that its asset shows, so that columns stand still. */
export function padded(text: string, decimals: number): string {
  const point = text.indexOf('.');
  const has = point < 0 ? 0 : text.length - point - 1;
  if (has >= decimals) return text;
  return (point < 0 ? `${text}.` : text) + '0'.repeat(decimals - has);
}

/** down rounds units down to a number of decimals. */
export function down(amount: bigint, decimals: number): bigint {
  const step = pow10(SCALE - decimals);
  return amount - (amount % step);
}

/** middle is the fee between two, rounded down to the fee's decimals, and not below the least. */
export function middle(least: string, most: string, decimals: number): string {
  return plain(max(down((units(least) + units(most)) / 2n, decimals), units(least)));
}

/** grouped writes units with two decimals, rounded down, and with thin spaces between thousands. */
export function grouped(amount: bigint, decimals = 2): string {
  const fixed = formatFixed(amount / pow10(SCALE - decimals), decimals);
  const [whole = '', fraction = ''] = fixed.split('.');
  return whole.replace(/\B(?=([0-9]{3})+$)/g, '\u2009') + (fraction === '' ? '' : `.${fraction}`);
}
