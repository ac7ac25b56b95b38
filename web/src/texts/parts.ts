import { add, type Catalogue } from './index.svelte';

/** Part is a part of the catalogue that comes with the pages that need it. */
export type Part = 'account' | 'trade' | 'wallet';

const parts: Record<Part, () => Promise<Catalogue>> = {
  account: async () => (await import('./en.account')).account,
  trade: async () => (await import('./en.trade')).trade,
  wallet: async () => (await import('./en.wallet')).wallet,
};

/** need fetches the texts of a page. */
export async function need(part: Part): Promise<void> {
  add(await parts[part]());
}
