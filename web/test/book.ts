import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { ask } from './person';

export const TRADE = '/trade/BTC-USDT';

/** RestBook is a book as REST and the page tell it, best first. */
export interface RestBook {
  seq: number;
  bids: { price: string; amount: string }[];
  asks: { price: string; amount: string }[];
}

/** faucet takes money of a sandbox by requests. */
export async function faucet(page: Page, ...assets: string[]): Promise<void> {
  for (const asset of assets) await ask(page, '/web/api/wallet/v2/faucet', { asset });
}

/** api asks a private endpoint as the page does. */
export async function api<T>(page: Page, path: string, body: object): Promise<T> {
  return page.evaluate(
    async ([to, json]) => {
      const headers = { 'Content-Type': 'application/json' };
      return (await fetch(`/web/api${to}`, { method: 'POST', headers, body: json })).json() as unknown;
    },
    [path, JSON.stringify(body)] as const,
  ) as Promise<T>;
}

/** row is a row of the book. */
export const row = (page: Page, price: string) => page.getByRole('region', { name: 'Order book' }).locator(`[data-price="${price}"]`);

/** shownBook reads the rows of the book from the page, best first. */
export async function shownBook(page: Page): Promise<RestBook> {
  return page.getByRole('region', { name: 'Order book' }).evaluate((region) => {
    const rows = (side: string) =>
      [...region.querySelectorAll<HTMLElement>(`[data-side="${side}"] [data-price]`)].map((row) => ({
        price: row.dataset['price'] ?? '',
        amount: row.dataset['amount'] ?? '',
      }));
    return { seq: JSON.parse((region as HTMLElement).dataset['seq'] ?? '-1') as number, bids: rows('BUY'), asks: rows('SELL') };
  });
}

/** sameBook waits until the page shows the book of REST at the same sequence, text by text. */
export async function sameBook(page: Page): Promise<void> {
  await expect.poll(async () => {
    const { seq, bids, asks } = await api<RestBook>(page, '/spot/orderbook', { pair: 'BTC/USDT', depth: 8 });
    const shown = await shownBook(page);
    return { rest: { seq, bids, asks }, shown: { ...shown, bids: shown.bids.slice(0, 8), asks: shown.asks.slice(0, 8) } };
  }).toSatisfy(({ rest, shown }: { rest: RestBook; shown: RestBook }) => JSON.stringify(rest) === JSON.stringify(shown));
}
