import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, visit, type Visitor } from './browser';
import { Exchange } from './exchange';
import { faultsOf } from './looks';
import { logIn, signUp } from './person';

const email = 'ada@example.org';

/** arabic lacks most texts, as a translation that has begun does. Those of all four parts are among its own. */
const arabic = {
  name: 'العربية',
  rtl: true,
  texts: {
    'nav.markets': 'الأسواق',
    'nav.trade': 'تداول',
    'nav.wallet': 'المحفظة',
    'nav.logIn': 'تسجيل الدخول',
    'nav.logOut': 'تسجيل الخروج',
    'shell.home': '{name}، الأسواق',
    'connection.live': 'مباشر',
    'markets.title': 'الأسواق',
    'markets.lineOf': 'أسعار {pair} خلال 24 ساعة، من {first} إلى {last}',
    'trade.last': 'آخر سعر',
    'wallet.title': 'المحفظة',
    'appearance.title': 'المظهر',
    'appearance.language': 'اللغة',
    'appearance.system': 'لغة المتصفح',
  },
};

inChromium('languages that the operator adds', () => {
  let browser: Browser;
  let exchange: Exchange;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bourse-languages-'));
    await writeFile(join(folder, 'ar.json'), JSON.stringify(arabic));
    await writeFile(join(folder, 'fr.json'), JSON.stringify({ name: 'Français', texts: { 'nav.markets': 'Marchés' } }));
    exchange = await Exchange.start(`--languages=${folder}`);
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    await exchange?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('are shown to browsers that want them, in every part, and filled up with English', async () => {
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      await page.goto('/');
      await page.getByRole('heading', { name: 'الأسواق' }).waitFor();
      expect(await written(page)).toEqual(['ar', 'rtl']);
      expect(await page.title()).toMatch(/^الأسواق · /);
      await page.getByRole('link', { name: 'Status', exact: true }).waitFor();
      await page.getByRole('img', { name: /^أسعار BTC\/USDT خلال 24 ساعة، من [\d.]+ إلى [\d.]+$/ }).waitFor();
      await looksRight(visitor, 'arabic-markets');

      await page.goto('/trade/BTC-USDT');
      await page.getByRole('status', { name: 'Connection' }).filter({ hasText: 'مباشر' }).waitFor();
      await page.getByText('آخر سعر').first().waitFor();
      await page.getByRole('form', { name: 'Order' }).waitFor();
      await looksRight(visitor, 'arabic-trade');
    }, { locale: 'ar-EG' });
  });

  it('are chosen in the account, and stay chosen', async () => {
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      await signUp(visitor, exchange, email);
      await page.goto('/account');
      const language = page.getByLabel('Language', { exact: true });
      await language.waitFor();
      expect(await language.locator('option').allTextContents()).toEqual([
        'As the browser', 'English', 'العربية', 'Français', 'Pseudo +40 %', 'Pseudo RTL',
      ]);
      expect(await language.inputValue()).toBe('system');
      await language.selectOption('ar');
      await page.getByRole('heading', { name: 'المظهر' }).waitFor();
      expect(await written(page)).toEqual(['ar', 'rtl']);
      await looksRight(visitor, 'arabic-account');

      await page.goto('/wallet');
      await page.getByRole('heading', { name: 'المحفظة', level: 1 }).waitFor();
      await page.goto('/account');
      await page.getByLabel('اللغة', { exact: true }).selectOption('fr');
      await page.getByRole('link', { name: 'Marchés', exact: true }).waitFor();
      expect(await written(page)).toEqual(['fr', 'ltr']);
      await page.getByLabel('Language', { exact: true }).selectOption('system');
      await page.getByRole('link', { name: 'Markets', exact: true }).waitFor();
      expect(await written(page)).toEqual(['en', 'ltr']);
    });
  });

  it('leave the page in English where they do not come', async () => {
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      visitor.outage = true;
      await page.route('**/assets/texts-*', (route) => route.abort());
      await page.goto('/log-in');
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      expect(await written(page)).toEqual(['en', '']);
      await logIn(page.getByRole('main'), email);
      await page.getByRole('button', { name: 'Log out' }).waitFor();
    }, { locale: 'ar' });
  });
});

/** written answers the language and the direction of the page. */
function written(page: Page): Promise<string[]> {
  return page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]);
}

/** looksRight keeps a picture, and wants the page to fit and to break no rule of axe. */
async function looksRight(visitor: Visitor, name: string): Promise<void> {
  const { page } = visitor;
  await page.waitForFunction(() => document.querySelector('[role=progressbar]') === null);
  await visitor.shoot(name);
  expect(await faultsOf(page)).toEqual([]);
}
