import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, visit } from './browser';
import { Exchange } from './exchange';
import { logIn, register } from './person';
import { take } from './picture';

/** MOST is the size of a picture in README, in bytes. */
const MOST = 150_000;

const email = 'satoshi@example.org';

inChromium('the picture of README', () => {
  let browser: Browser;
  let exchange: Exchange;

  beforeAll(async () => {
    exchange = await Exchange.start();
    browser = await launch();
    await register(exchange, email);
    await exchange.admin('credit', email, 'USDT', '125000');
    await exchange.admin('credit', email, 'BTC', '1.5');
  });

  afterAll(async () => {
    await browser?.close();
    await exchange?.stop();
  });

  it.each(['dark', 'light'] as const)('shows the trading page, %s', async (theme) => {
    const looks = { colorScheme: theme, viewport: { width: 1440, height: 810 } };
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      await page.goto('/log-in?to=/trade/BTC-USDT');
      await logIn(page.getByRole('main'), email);
      const form = page.getByRole('form', { name: 'Order' });
      const price = form.getByLabel('Price', { exact: true });
      await expect.poll(() => price.inputValue()).not.toBe('');
      const [whole = ''] = (await price.inputValue()).split('.');
      for (const [less, amount] of [['400', '0.15'], ['900', '0.25']] as const) {
        await price.fill(String(Number(whole) - Number(less)));
        await form.getByLabel('Amount', { exact: true }).fill(amount);
        await form.getByRole('button', { name: 'Buy BTC', exact: true }).click();
        await expect.poll(() => form.getByRole('status').innerText()).toBe('Accepted');
      }

      await price.fill(String(Number(whole) + 100));
      await form.getByLabel('Amount', { exact: true }).fill('0.5');
      await form.getByText('Trades now').waitFor();
      await page.getByLabel(/^Candles of/).locator('canvas').first().waitFor();
      await page.waitForFunction(() => document.querySelector('[role=progressbar]') === null);
      expect(await take(page, `trade-${theme}`)).toBeLessThanOrEqual(MOST);
    }, looks);
  });
});
