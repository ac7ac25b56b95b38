/** en is the English catalogue: every text of the pages. Other languages have the same keys. */
export const en = {
  // The shell.
  'shell.home': '{name}, markets',
  'shell.pages': 'Pages',
  'shell.skip': 'Skip to the content',
  'shell.sandbox': 'This is a sandbox: its money is not real.',
  'nav.markets': 'Markets',
  'nav.trade': 'Trade',
  'nav.wallet': 'Wallet',
  'nav.history': 'History',
  'nav.account': 'Account',
  'nav.signUp': 'Sign up',
  'nav.logIn': 'Log in',
  'nav.logOut': 'Log out',
  'logout.done': 'You are logged out.',
  'footer.status': 'Status',
  'footer.docs': 'Documentation',
  'connection.label': 'Connection',
  'connection.idle': 'Idle',
  'connection.live': 'Live',
  'connection.stale': 'Stale',
  'connection.offline': 'Offline',
  'toasts.label': 'Notices',
  'toasts.dismiss': 'Dismiss',
  'missing.title': 'There is no such page',
  'missing.text': 'The address may be mistyped. Go to:',
  'failed.title': 'This page could not be loaded',
  'failed.text': 'The exchange may be restarting, or there is a newer version of the pages.',
  'failed.reload': 'Reload',
  'action.cancel': 'Cancel',

  // Panels.
  'panel.loading': 'Loading',
  'panel.retry': 'Try again',
  'panel.retryIn': 'Try again in {seconds} s',
  'panel.age': 'What is shown is {seconds} s old.',
  'panel.signedOut': 'Log in to see this.',
  'panel.logIn': 'Go to log-in',

  // The second factor.
  'factor.title': 'Confirm with a code',
  'factor.place': 'A code of six digits is needed. It is at:',
  'factor.code': 'Code',
  'factor.confirm': 'Confirm',

  // Refusals, by the exchange's code.
  'error.refused': 'The exchange refused:',
  'error.UNKNOWN': 'Something went wrong. Try again.',
  'error.UNREACHABLE': 'The exchange cannot be reached. Check the connection and try again.',
  'error.NOT_JSON': 'The answer could not be read. Try again.',
  'error.wait': 'Wait {seconds} s.',

  // Markets.
  'markets.title': 'Markets',

  // Trading.
  'trade.title': 'Trade',

  // Sign-up, log-in, reset.
  'signup.title': 'Sign up',
  'login.title': 'Log in',
  'reset.title': 'New password',

  // The account.
  'account.title': 'Account',

  // The wallet.
  'wallet.title': 'Wallet',
  'deposit.title': 'Deposit',
  'withdraw.title': 'Withdraw',
  'faucet.title': 'Faucet',

  // History.
  'history.title': 'History',

  // Status.
  'status.title': 'Status',
} as const satisfies Record<string, string>;
