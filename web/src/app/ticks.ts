// Whole seconds of texts, for dates alone. Seconds stay far below 2^53.

/** wholeSeconds reads V1's times, which are Unix seconds with six decimals. */
export function wholeSeconds(text: string): number {
  return Number(text.split('.')[0]);
}
