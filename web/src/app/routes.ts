import type { Component } from 'svelte';
import type { Key } from '../texts/index.svelte';
import type { Part } from '../texts/parts';

export interface Route {
  /** pattern's groups become the page's properties. */
  pattern: RegExp;
  /** title is the document's until the page sets one of its own. */
  title: Key;
  /** texts is the part of the catalogue that the page needs beside the shell's. */
  texts: Part;
  load: () => Promise<{ default: Component<Record<string, string>> }>;
}

type Loaded = Promise<{ default: Component<Record<string, string>> }>;

// A page is a file of its own that is loaded when it is first shown.
export const routes: Route[] = [
  { pattern: /^\/$/, title: 'markets.title', texts: 'trade', load: () => import('../markets/Markets.svelte') as Loaded },
  { pattern: /^\/trade(?:\/(?<pair>[A-Z0-9]+-[A-Z0-9]+))?$/, title: 'trade.title', texts: 'trade', load: () => import('../trade/Trade.svelte') as Loaded },
  { pattern: /^\/sign-up$/, title: 'signup.title', texts: 'account', load: () => import('../account/SignUp.svelte') as Loaded },
  { pattern: /^\/log-in$/, title: 'login.title', texts: 'account', load: () => import('../account/LogIn.svelte') as Loaded },
  { pattern: /^\/reset$/, title: 'reset.title', texts: 'account', load: () => import('../account/Reset.svelte') as Loaded },
  { pattern: /^\/undo$/, title: 'undo.title', texts: 'account', load: () => import('../account/Undo.svelte') as Loaded },
  { pattern: /^\/account$/, title: 'account.title', texts: 'account', load: () => import('../account/Account.svelte') as Loaded },
  { pattern: /^\/wallet$/, title: 'wallet.title', texts: 'wallet', load: () => import('../wallet/Wallet.svelte') as Loaded },
  { pattern: /^\/wallet\/deposit$/, title: 'deposit.title', texts: 'wallet', load: () => import('../wallet/Deposit.svelte') as Loaded },
  { pattern: /^\/wallet\/withdraw$/, title: 'withdraw.title', texts: 'wallet', load: () => import('../wallet/Withdraw.svelte') as Loaded },
  { pattern: /^\/wallet\/faucet$/, title: 'faucet.title', texts: 'wallet', load: () => import('../wallet/Faucet.svelte') as Loaded },
  { pattern: /^\/history$/, title: 'history.title', texts: 'wallet', load: () => import('../history/History.svelte') as Loaded },
  { pattern: /^\/status$/, title: 'status.title', texts: 'wallet', load: () => import('../status/Status.svelte') as Loaded },
];

/** match finds the page of a path; the groups of its pattern come along. */
export function match(path: string): { route: Route; parameters: Record<string, string> } | null {
  for (const route of routes) {
    const found = route.pattern.exec(path);
    if (found) return { route, parameters: { ...found.groups } };
  }

  return null;
}
