import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, visit } from './browser';
import { Exchange } from './exchange';
import { faultsOf } from './looks';

const looks: { name: string; options: BrowserContextOptions }[] = [
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'light', options: { colorScheme: 'light' } },
  { name: '390', options: { colorScheme: 'dark', viewport: { width: 390, height: 844 } } },
];

/** unseen are the rules of axe that find faults in hidden elements, too. */
const unseen = ['accesskeys', 'area-alt', 'aria-allowed-role', 'aria-hidden-focus', 'blink', 'duplicate-id-aria', 'marquee'];

inChromium('the explorer', () => {
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

  for (const { name, options } of looks) {
    it(`finds and shows endpoints by keyboard in ${name}`, async () => {
      await visit(browser, exchange.url, async (visitor) => {
        const { page } = visitor;
        await page.goto('/docs/explorer');
        await page.keyboard.press('/');
        await page.keyboard.type('/spot/open_orders/new client_id');
        expect(await page.getByRole('searchbox', { name: 'Find' }).inputValue()).toBe('/spot/open_orders/new client_id');
        await page.getByRole('status').filter({ hasText: /^1 of \d+$/ }).waitFor();

        await page.keyboard.press('Enter');
        const shown = page.locator('details[open]');
        expect(await shown.count()).toBe(1);
        expect(await shown.locator('pre').first().textContent()).toContain('curl -d ');
        await visitor.shoot(`explorer-${name}`);

        // The filter hides most elements. Most rules skip hidden ones, but take seconds to visit them: only the other
        // rules run on the whole page.
        if (name === 'dark') expect(await faultsOf(page, { runOnly: unseen })).toEqual([]);
        await page.evaluate(() => document.querySelectorAll('[hidden]').forEach((one) => one.remove()));
        expect(await faultsOf(page)).toEqual([]);
      }, options);
    });
  }

  it('has an origin of its own, and opens what a link names', async () => {
    await visit(browser, exchange.url, async ({ page }) => {
      await page.goto('/docs/explorer#account-news');
      expect(await page.evaluate(() => self.origin)).toBe('null');
      await page.locator('details[open]').getByText('/account/v2/news').first().waitFor();
      await page.getByRole('link', { name: 'spot.yaml' }).waitFor();
    });
  });
});
