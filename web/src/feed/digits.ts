// How numbers are written for people: alike in every language, with the thousands apart.

import { formatFixed } from '../../client/decimal';

/** THIN is a narrow space that does not break, which groups digits without being a decimal point anywhere. */
const THIN = '\u202f';

/** grouped sets the thousands of a decimal apart. decimals cuts it, without rounding up. */
export function grouped(text: string, decimals?: number): string {
  const [whole = '', fraction = ''] = text.split('.');
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, THIN);
  const kept = decimals === undefined ? fraction : fraction.slice(0, decimals);
  return kept === '' ? apart : `${apart}.${kept}`;
}

/** percentText writes hundredths of a percent, with a sign. */
export function percentText(hundredths: bigint): string {
  const size = formatFixed(hundredths < 0n ? -hundredths : hundredths, 2);
  return `${hundredths < 0n ? '−' : '+'}${size}${THIN}%`;
}

/** padded gives a decimal exactly some decimals, cutting none of value. */
export function padded(text: string, decimals: number): string {
  const [whole = '0', fraction = ''] = text.split('.');
  return decimals === 0 && fraction === '' ? whole : `${whole}.${fraction.padEnd(decimals, '0')}`;
}

/** clockText writes Unix seconds as this machine's time of day. */
export function clockText(seconds: number): string {
  const at = new Date(seconds * 1000);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}
