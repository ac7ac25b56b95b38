import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, visit, type Visitor } from './browser';
import { Exchange } from './exchange';
import { deposit, reviewWithdrawal, signUp, takeFromFaucet } from './person';

const email = 'ada@example.org';

inChromium('from sign-up to withdrawal', () => {
  let browser: Browser;
  let exchange: Exchange;

  beforeAll(async () => {
    exchange = await Exchange.start('--no-bots');
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    await exchange?.stop();
  });

  it('holds', async () => {
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      const main = page.getByRole('main');
      await signUp(visitor, exchange, email);
      await requireCode(visitor);
      await page.getByRole('link', { name: 'Wallet' }).click();
      await main.getByRole('button', { name: 'Faucet' }).click();
      await takeFromFaucet(page, 'BTC');
      await deposit(visitor, exchange);
      await exchange.admin('devnet', 'mine', 'BTC', '6');
      await main.getByText('Done', { exact: true }).waitFor();

      const outside = await reviewWithdrawal(page, exchange);
      expect(await main.getByText(outside).count()).toBe(1);

      await main.getByRole('button', { name: 'Confirm withdrawal' }).click();
      await page.getByLabel('Code', { exact: true }).waitFor();
      await page.getByLabel('Code', { exact: true }).fill(await exchange.code(email, outside));
      await page.getByRole('button', { name: 'Confirm', exact: true }).click();
      await page.getByRole('log').getByText('The withdrawal is accepted.').waitFor();
      await exchange.admin('devnet', 'mine', 'BTC', '6');
      await main.getByText('Done', { exact: true }).waitFor();

      // That no memo is needed was said of one address.
      await main.getByLabel('Asset', { exact: true }).selectOption('ATOM');
      const ticked = main.getByLabel('No memo');
      await ticked.check();
      await main.getByLabel('Address', { exact: true }).fill('another');
      await expect.poll(() => ticked.isChecked()).toBe(false);
    });
  });

  it('opens a page without storing settings that nobody chose', async () => {
    await visit(browser, exchange.url, async ({ page }) => {
      const stored = () => page.evaluate(() => localStorage.getItem('bourse.settings'));
      await page.goto('/log-in');
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      expect(await stored()).toBeNull();

      await page.goto('/trade/BTC-USDT');
      await page.getByLabel(/^Candles of/).locator('canvas').first().waitFor();
      const names = await page.evaluate(() => Object.keys(localStorage));
      expect(names.filter((name) => /settings|chart\./.test(name))).toEqual([]);
    });
  });

  it('keeps what each of two tabs chose', async () => {
    await visit(browser, exchange.url, async ({ page }) => {
      const other = await page.context().newPage();
      for (const tab of [page, other]) await tab.goto('/account');
      await page.getByLabel('Theme', { exact: true }).selectOption('light');
      await other.locator('html[data-shade=light]').waitFor();
      expect(await other.getByLabel('Theme', { exact: true }).inputValue()).toBe('light');

      // A tab that writes to localStorage gets no storage event, so the page in it has not read this theme.
      await other.evaluate(() => localStorage.setItem('bourse.settings', '{"theme":"dark"}'));
      await other.getByLabel('Density', { exact: true }).selectOption('dense');
      const stored = await page.evaluate(() => JSON.parse(localStorage.getItem('bourse.settings') ?? 'null') as unknown);
      expect(stored).toEqual({ theme: 'dark', density: 'dense' });
      for (const tab of [page, other]) await tab.locator('html[data-shade=dark][data-density=dense]').waitFor();
    });
  });

  /** requireCode makes withdrawals ask for a code. */
  async function requireCode({ page }: Visitor): Promise<void> {
    await page.getByRole('link', { name: 'Account' }).click();
    const withdrawing = page.getByRole('checkbox', { name: 'Withdrawing' });
    await withdrawing.click();
    await page.getByLabel('Code', { exact: true }).fill(await exchange.code(email));
    await page.getByRole('button', { name: 'Confirm', exact: true }).click();
    await page.getByRole('checkbox', { name: 'Withdrawing', checked: true }).waitFor();
  }
});
