import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inChromium, launch, visit, type Visitor } from './browser';
import { Exchange } from './exchange';
import { logIn, register } from './person';

const ann = 'ann@example.org';
const bob = 'bob@example.org';

inChromium('sessions', () => {
  let exchange: Exchange;
  let browser: Browser;

  beforeAll(async () => {
    exchange = await Exchange.start('--no-bots');
    browser = await launch();
    for (const email of [ann, bob]) await register(exchange, email);
  });

  afterAll(async () => {
    await browser?.close();
    await exchange?.stop();
  });

  /** enter logs in by the page. */
  async function enter({ page }: Visitor, email: string, to = '/account'): Promise<void> {
    await page.goto(`/log-in?to=${encodeURIComponent(to)}`);
    await logIn(page.getByRole('main'), email);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
  }

  test('an order whose answer was lost is not sent for the next account', async () => {
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      visitor.outage = true;
      await enter(visitor, ann, '/trade/BTC-USDT');
      await page.route('**/open_orders/new', (route) => route.abort());
      const form = page.getByRole('form', { name: 'Order' });
      await form.getByLabel('Price', { exact: true }).fill('60000');
      await form.getByLabel('Amount', { exact: true }).fill('0.1');
      await form.getByRole('button', { name: 'Buy BTC', exact: true }).click();
      await expect.poll(() => form.getByRole('status').innerText()).toMatch(/again/);

      // Her session ends elsewhere, so that this tab cannot tidy up.
      await page.goto('/status');
      await page.context().clearCookies();
      await page.unroute('**/open_orders/new');
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/open_orders/new')) sent.push(request.postData() ?? '');
      });
      await enter(visitor, bob, '/trade/BTC-USDT');
      await page.getByLabel('Connection').and(page.getByText('Live', { exact: true })).waitFor();
      expect(sent).toEqual([]);
    });
  });

  test('logging out forgets what was typed', async () => {
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      const main = page.getByRole('main');
      const kept = () => page.evaluate(() => Object.entries(sessionStorage).filter(([, value]) => value.includes('typed-by-ann')));
      await enter(visitor, ann, '/wallet/withdraw');
      await main.getByLabel('Asset', { exact: true }).selectOption('BTC');
      await main.getByLabel('Address', { exact: true }).fill('typed-by-ann');
      await expect.poll(kept).toHaveLength(1);
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('button', { name: 'Log in' }).waitFor();
      expect(await kept()).toEqual([]);
    });
  });

  test('the page of the status asks for it once', async () => {
    await visit(browser, exchange.url, async ({ page }) => {
      let asked = 0;
      page.on('request', (request) => {
        if (request.url().endsWith('/web/status')) asked++;
      });
      await page.goto('/status');
      await page.getByRole('heading', { name: 'Status', level: 1 }).waitFor();
      await page.getByRole('region', { name: 'Exchange' }).getByText('Works', { exact: true }).first().waitFor();
      expect(asked).toBe(1);
    });
  });

  test('ending all others ends those that began since', async () => {
    await visit(browser, exchange.url, async (visitor) => {
      await enter(visitor, ann);
      await visit(browser, exchange.url, async (thief) => {
        await visitor.page.getByRole('button', { name: 'End all others' }).waitFor();
        await enter(thief, ann);
        await visitor.page.getByRole('button', { name: 'End all others' }).click();
        await visitor.page.getByText('All other sessions are ended.').waitFor();
        await thief.page.reload();
        await thief.page.getByRole('main').getByRole('link', { name: 'Go to log-in' }).waitFor();
      });
    });
  });

  test('a transfer whose answer was lost is made once, also when it is typed again', async () => {
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      const main = page.getByRole('main');
      visitor.outage = true;
      await enter(visitor, ann, '/wallet/faucet?asset=BTC');
      await main.getByRole('button', { name: 'Faucet' }).click();
      await main.getByRole('status').filter({ hasText: 'BTC' }).waitFor();
      await page.goto('/wallet/withdraw?asset=BTC');

      const review = async (): Promise<void> => {
        await main.getByLabel('To a member, by e-mail', { exact: true }).check();
        await main.getByLabel('Recipient', { exact: true }).fill(bob);
        await main.getByLabel('Amount', { exact: true }).fill('0.25');
        await main.getByRole('button', { name: 'Review' }).click();
        await main.getByRole('button', { name: 'Confirm withdrawal' }).click();
      };
      await page.route('**/io/transactions', async (route) => {
        if (route.request().method() !== 'POST') return route.fallback();
        await route.fetch();
        return route.abort();
      });
      await review();
      await main.getByRole('alert').waitFor();
      await page.unroute('**/io/transactions');
      await page.reload();
      await review();
      await page.getByRole('log').getByText('The transfer is done.').waitFor();

      const { transactions } = await page.evaluate(
        async () => (await (await fetch('/web/api/wallet/v2/io/transactions?type=TRANSFER_OUT')).json()) as { transactions: unknown[] },
      );
      expect(transactions).toHaveLength(1);
    });
  });
});
