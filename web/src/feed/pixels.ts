// The one place of the feed where numbers of the exchange become lengths on the screen. No money comes back.

/** thousandths returns part of whole in thousandths, at most 1,000. */
export function thousandths(part: bigint, whole: bigint): number {
  if (whole <= 0n) return 0;
  return Math.min(1000, Number((part * 1000n) / whole));
}

/** height returns a price or an amount as a coordinate for a chart. */
export function height(text: string): number {
  return Number(text);
}
