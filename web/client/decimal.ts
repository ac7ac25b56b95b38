// Decimals as integers: an amount is a bigint that counts units of 10^-scale, as the exchange's own code
// counts them. No number here is a float, and no function rounds unless its name says so.

/** MAX_AMOUNT is the largest amount, 2^128-1 units. */
export const MAX_AMOUNT = (1n << 128n) - 1n;

/** MAX_COUNT is the largest price in ticks, and the largest quantity in lots. */
export const MAX_COUNT = (1n << 62n) - 1n;

/** RATE_ONE is the rate 1 in the millionths that rates count. */
export const RATE_ONE = 1_000_000n;

/** MAX_LENGTH bounds the text of a decimal, in characters. */
const MAX_LENGTH = 40;

/** MAX_SCALE is the largest scale of an asset or a market, in decimals. */
const MAX_SCALE = 19;

const POWERS = Array.from({ length: MAX_SCALE + 1 }, (_, n) => 10n ** BigInt(n));

/** Fault names why a text is not a decimal of a scale; each has a text in the catalogue of a page. */
export type Fault = 'not_decimal' | 'too_many_decimals' | 'too_few_decimals' | 'too_large' | 'zero';

/** DecimalError reports a text that is not a decimal of a scale. */
export class DecimalError extends Error {
  constructor(
    readonly fault: Fault,
    readonly text: string,
    readonly scale: number,
  ) {
    super(`${JSON.stringify(text)} is no decimal with ${scale} decimals: ${fault}`);
    this.name = 'DecimalError';
  }
}

/** pow10 returns 10^n for n from 0 to 19. */
export function pow10(n: number): bigint {
  const power = POWERS[n];
  if (power === undefined) {
    throw new RangeError(`10^${n} is beyond the largest scale, ${MAX_SCALE}`);
  }
  return power;
}

/**
 * parse reads digits[.digits], also ".5" and "5.", as units of 10^-scale. Trailing zeros do not count as
 * decimals. More than scale decimals throws: parse never rounds.
 */
export function parse(text: string, scale: number): bigint {
  if (text.length > MAX_LENGTH || !/^(\d+\.?\d*|\.\d+)$/.test(text)) {
    throw new DecimalError('not_decimal', text, scale);
  }
  const [whole = '', fraction = ''] = text.split('.');
  const significant = fraction.replace(/0+$/, '');
  if (significant.length > scale) {
    throw new DecimalError('too_many_decimals', text, scale);
  }
  return bounded(BigInt(whole + significant.padEnd(scale, '0')), text, scale);
}

/** parseFixed reads a decimal with exactly scale decimals, as a book writes its prices and amounts. */
export function parseFixed(text: string, scale: number): bigint {
  const point = text.indexOf('.');
  const decimals = point < 0 ? 0 : text.length - point - 1;
  if (decimals !== scale) {
    throw new DecimalError(decimals > scale ? 'too_many_decimals' : 'too_few_decimals', text, scale);
  }
  if (text.length > MAX_LENGTH || !/^\d+(\.\d+)?$/.test(text)) {
    throw new DecimalError('not_decimal', text, scale);
  }
  return bounded(BigInt(point < 0 ? text : text.slice(0, point) + text.slice(point + 1)), text, scale);
}

/** parseCount reads a price as ticks or a quantity as lots: at least one, at most MAX_COUNT. */
export function parseCount(text: string, scale: number): bigint {
  const count = parse(text, scale);
  if (count === 0n) {
    throw new DecimalError('zero', text, scale);
  }
  if (count > MAX_COUNT) {
    throw new DecimalError('too_large', text, scale);
  }
  return count;
}

/** parseRate reads a rate in percent, such as "0.1", as millionths. */
export function parseRate(percent: string): bigint {
  return parse(percent, 4);
}

function bounded(units: bigint, text: string, scale: number): bigint {
  if (units > MAX_AMOUNT) {
    throw new DecimalError('too_large', text, scale);
  }
  return units;
}

/** formatFixed writes units with exactly scale decimals. A minus precedes what is below zero. */
export function formatFixed(units: bigint, scale: number): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  if (scale === 0) {
    return sign + digits;
  }
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** format writes units without trailing zeros. */
export function format(units: bigint, scale: number): string {
  const fixed = formatFixed(units, scale);
  return scale === 0 ? fixed : fixed.replace(/\.?0+$/, '');
}

/** mulDiv returns a×b÷n rounded down, for amounts that are not below zero. */
export function mulDiv(a: bigint, b: bigint, n: bigint): bigint {
  return (a * b) / n;
}

/** mulDivUp returns a×b÷n rounded up, for amounts that are not below zero. */
export function mulDivUp(a: bigint, b: bigint, n: bigint): bigint {
  return (a * b + n - 1n) / n;
}

/** feeOn returns the share of an amount that a rate in millionths takes, rounded up to a unit. */
export function feeOn(rate: bigint, amount: bigint): bigint {
  return mulDivUp(amount, rate, RATE_ONE);
}

/** rescale returns units of one scale as units of another, rounded down. */
export function rescale(units: bigint, from: number, to: number): bigint {
  return to >= from ? units * pow10(to - from) : units / pow10(from - to);
}

/** min returns the lesser of two amounts. */
export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** max returns the greater of two amounts. */
export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
