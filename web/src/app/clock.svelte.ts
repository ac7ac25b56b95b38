/** clock is this machine's time in milliseconds, once a second: for ages and countdowns, never for what the exchange decides. */
export const clock = $state({ now: Date.now() });

/** startClock is called once. */
export function startClock(): void {
  setInterval(() => {
    clock.now = Date.now();
  }, 1_000);
}

/** timeText writes Unix seconds as local time, alike in every language. */
export function timeText(seconds: number): string {
  return dayText(seconds) + ' ' + partsOf(seconds).time;
}

/** dayText writes the day of Unix seconds. */
export function dayText(seconds: number): string {
  return partsOf(seconds).day;
}

function partsOf(seconds: number): { day: string; time: string } {
  const at = new Date(seconds * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return {
    day: `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`,
    time: `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`,
  };
}
