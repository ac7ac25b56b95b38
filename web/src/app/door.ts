/** door is how this site's people come in; main.ts of the site sets what differs from the customers' pages. */
export const door = {
  /** logIn is the address of the log-in page. */
  logIn: '/log-in',
  /** lost is told that the exchange found nobody logged in. */
  lost: (): void => undefined,
};
