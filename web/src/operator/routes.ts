import type { Component } from 'svelte';
import type { Key } from '../texts/index.svelte';
import Account from './Account.svelte';
import Accounts from './Accounts.svelte';
import Accept from './Accept.svelte';
import Catalogue from './Catalogue.svelte';
import Dashboard from './Dashboard.svelte';
import List from './List.svelte';
import { lists } from './lists';
import LogIn from './LogIn.svelte';
import Settings from './Settings.svelte';

export interface Route {
  /** pattern's groups become the page's properties, beside given. */
  pattern: RegExp;
  title: Key;
  page: Component<Record<string, unknown>>;
  given?: Record<string, unknown>;
  /** open pages need no session. */
  open?: boolean;
  /** href is the address in the header's list of pages; pages without one are not in it. */
  href?: string;
}

type Page = Component<Record<string, unknown>>;

/** routes are the console's pages, in the header's order. internal/web has their addresses too. */
export const routes: Route[] = [
  { pattern: /^\/(?:operator)?$/, title: 'console.dashboard', page: Dashboard as unknown as Page, href: '/operator' },
  ...lists.map((list) => ({
    pattern: new RegExp(`^${list.href}$`),
    title: list.title,
    page: List as unknown as Page,
    given: { list },
    href: list.href,
  })),
  { pattern: /^\/operator\/accounts$/, title: 'console.accounts', page: Accounts as unknown as Page, href: '/operator/accounts' },
  { pattern: /^\/operator\/accounts\/(?<account>[^/]+)$/, title: 'console.account', page: Account as unknown as Page },
  { pattern: /^\/operator\/catalogue$/, title: 'console.catalogue', page: Catalogue as unknown as Page, href: '/operator/catalogue' },
  { pattern: /^\/operator\/settings$/, title: 'console.settings', page: Settings as unknown as Page, open: true, href: '/operator/settings' },
  { pattern: /^\/operator\/log-in$/, title: 'desk.logIn', page: LogIn as unknown as Page, open: true },
  { pattern: /^\/operator\/accept$/, title: 'desk.accept', page: Accept as unknown as Page, open: true },
];

/** match finds the page of a path; the groups of its pattern come along. */
export function match(path: string): { route: Route; given: Record<string, unknown> } | null {
  for (const route of routes) {
    const found = route.pattern.exec(path);
    if (found) return { route, given: { ...route.given, ...found.groups } };
  }

  return null;
}
