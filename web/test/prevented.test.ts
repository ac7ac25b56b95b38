import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, visit } from './browser';
import { Exchange } from './exchange';
import { ask, signUpByRequest } from './person';

const email = 'ann@example.org';

inChromium('an account that would trade with itself', () => {
  let browser: Browser;
  let exchange: Exchange;

  beforeAll(async () => {
    exchange = await Exchange.start('--bots=false');
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    await exchange?.stop();
  });

  it('sees what prevention took of its orders, open and past', async () => {
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      await signUpByRequest(visitor, exchange, email);
      await exchange.admin('credit', email, 'BTC', '1');
      await exchange.admin('credit', email, 'USDT', '100000');
      await place(page, 'SELL', '0.3');
      await place(page, 'BUY', '0.1');

      await page.goto('/trade/BTC-USDT');
      const open = page.getByRole('table', { name: 'Open orders' });
      await open.getByText('(0.1 not traded with yourself)').waitFor();
      expect(await open.locator('tbody tr').count()).toBe(1);
      await page.getByRole('tab', { name: 'Order history' }).click();
      const past = page.getByRole('table', { name: 'Order history' });
      await past.getByText('(0.1 not traded with yourself)').first().waitFor();
      expect(await past.getByText('(0.1 not traded with yourself)').count()).toBe(2);

      await page.goto('/history');
      await page.getByRole('columnheader', { name: 'Self-trades prevented' }).waitFor();
      expect(await page.getByRole('cell', { name: '0.1', exact: true }).count()).toBe(2);
    });
  });
});

/** place places an order at 60,500 that rather shrinks than trades with an own one. */
async function place(page: Page, side: string, amount: string): Promise<void> {
  const order = { pair: 'BTC/USDT', type: 'LIMIT', time_in_force: 'GTC', price: '60500', stp: 'decrement', resp_type: 'RESULT' };
  await ask(page, '/web/api/spot/open_orders/new', { ...order, side, amount });
}
