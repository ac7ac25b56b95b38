import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, visit, type Visitor } from './browser';
import { Exchange } from './exchange';
import { faultsOf } from './looks';
import { enrolled } from './operators';
import { password } from './person';

const email = 'ada@example.org';
const logo = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><path fill="#b07cff" d="M0 20 10 0l10 20zM20 0h20v20H20z"/></svg>';

inChromium('an exchange of another brand', () => {
  let browser: Browser;
  let exchange: Exchange;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bourse-brand-'));
    await writeFile(join(folder, 'logo.svg'), logo);
    await writeFile(join(folder, 'terms.md'), '# Terms of Agora\n\nBe kind.\n');
    await brand('2026-01');
    exchange = await Exchange.start('--bots=false', '--admin-listen=127.0.0.1:0', `--brand=${join(folder, 'brand.yaml')}`);
    await exchange.admin('notice', 'add', 'banner', 'Closed on Sunday', 'We move to another house.');
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    await exchange?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('has its name, look, terms and notices', async () => {
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      await page.goto('/sign-up');
      await page.getByRole('heading', { name: 'Sign up' }).waitFor();
      expect(await page.title()).toBe('Sign up · Agora & Söhne');
      expect(await page.getByRole('link', { name: 'Agora & Söhne, markets' }).locator('img').count()).toBe(1);
      expect(await colour(page)).toBe('#c79bff');
      expect(await ours(page)).toEqual([]);
      await hideNotice(visitor);
      await signUp(visitor);

      await brand('2026-02');
      visitor.outage = true;
      await exchange.kill();
      await exchange.again();
      await page.goto('/trade/BTC-USDT');
      const strip = page.getByRole('complementary', { name: 'Terms' });
      await strip.waitFor();
      visitor.outage = false;
      await looksRight(visitor, 'brand-dark');
      await strip.getByRole('button', { name: 'Accept the terms' }).click();
      await page.getByRole('log').getByText('The terms are accepted.').waitFor();
      expect(await strip.count()).toBe(0);

      await page.goto('/docs/first-order');
      await looksRight(visitor, 'brand-docs');
      await page.goto('/terms');
      expect(await page.getByRole('heading', { name: 'Terms of Agora' }).count()).toBe(1);
      await looksRight(visitor, 'brand-terms');
    });
  });

  it('fits in light and on a phone', async () => {
    const options = { colorScheme: 'light' as const, viewport: { width: 390, height: 844 } };
    await visit(browser, exchange.url, async (visitor) => {
      await visitor.page.goto('/sign-up');
      await visitor.page.getByRole('complementary', { name: 'Notices of the exchange' }).waitFor();
      expect(await colour(visitor.page)).toBe('#6b2fb3');
      await looksRight(visitor, 'brand-390');
    }, options);
  });

  it('has its name and look on the console of operators', async () => {
    const owner = await enrolled(browser, exchange, 'olga', 'owner');
    const { page } = owner;
    for (const path of ['/operator', '/operator/notices', '/operator/catalogue', '/operator/accept', '/operator/log-in']) {
      await page.goto(path);
      await looksRight(owner, `brand-console${path.replaceAll('/', '-')}`);
      expect(await page.title()).toMatch(/ · Agora & Söhne$/);
      expect(await page.getByRole('link', { name: 'Agora & Söhne, dashboard of operators' }).locator('img').count()).toBe(1);
      expect(await colour(page)).toBe('#c79bff');
      expect(await ours(page)).toEqual([]);
    }
    await owner.close();
  });

  /** brand writes the brand's file with a version of the terms. */
  async function brand(version: string): Promise<void> {
    const block = {
      name: 'Agora & Söhne',
      logo: join(folder, 'logo.svg'),
      colours: { dark: { accent: '#c79bff' }, light: { accent: '#6b2fb3' } },
      terms: { version, file: join(folder, 'terms.md') },
      privacy: { address: 'https://example.com/privacy' },
      support: 'mailto:help@example.com',
    };
    await writeFile(join(folder, 'brand.yaml'), JSON.stringify(block));
  }

  async function hideNotice({ page }: Visitor): Promise<void> {
    const strip = page.getByRole('complementary', { name: 'Notices of the exchange' });
    await strip.getByText('Closed on Sunday').waitFor();
    await strip.getByRole('button', { name: 'Hide this notice' }).click();
    const told = page.waitForResponse('**/web/status');
    await page.reload();
    await (await told).finished();
    await page.getByRole('heading', { name: 'Sign up' }).waitFor();
    expect(await strip.count()).toBe(0);
  }

  /** signUp accepts the terms with the account, so that the log-in asks for none. */
  async function signUp({ page }: Visitor): Promise<void> {
    const main = page.getByRole('main');
    await main.getByLabel('E-mail', { exact: true }).fill(email);
    await main.getByLabel('Password', { exact: true }).fill(password);
    const unfinished = main.locator('form:invalid');
    expect(await unfinished.count()).toBe(1);
    await main.getByRole('checkbox', { name: 'I have read and accept the terms' }).check();
    expect(await unfinished.count()).toBe(0);
    await main.getByRole('button', { name: 'Create account' }).click();
    await main.getByLabel('Code', { exact: true }).waitFor();
    await main.getByLabel('Code', { exact: true }).fill(await exchange.code(email));
    await main.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await main.getByLabel('Password', { exact: true }).fill(password);
    await main.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    expect(await page.getByRole('complementary', { name: 'Terms' }).count()).toBe(0);
  }
});

/** colour answers the accent that the page shows. */
function colour(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--accent').trim());
}

/** ours answers what names Bourse of all that the page was made of: its document, scripts, styles and answers. */
function ours(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const from = [location.href, ...performance.getEntriesByType('resource').map(({ name }) => name)];
    const texts = await Promise.all(from.map(async (address) => (await fetch(address)).text()));
    return from.filter((_, at) => texts[at]?.includes('Bourse'));
  });
}

/** looksRight keeps a picture, and wants the page to fit and to break no rule of axe. */
async function looksRight(visitor: Visitor, name: string): Promise<void> {
  const { page } = visitor;
  await page.locator('main h1').first().waitFor();
  await page.waitForFunction(() => document.querySelector('[role=progressbar]') === null);
  await visitor.shoot(name);
  expect(await faultsOf(page)).toEqual([]);
}
