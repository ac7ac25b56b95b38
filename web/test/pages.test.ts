import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, visit, type Visitor } from './browser';
import { Exchange } from './exchange';
import { logIn, signUp } from './person';

const guests = ['/', '/trade/BTC-USDT', '/sign-up', '/log-in', '/reset', '/undo', '/status', '/wallet', '/nowhere'];
const members = [
  '/trade/BTC-USDT',
  '/account',
  '/wallet',
  '/wallet/deposit?asset=BTC',
  '/wallet/deposit?asset=ATOM',
  '/wallet/withdraw?asset=ATOM',
  '/wallet/faucet',
  '/history',
  '/history?list=trades',
  '/history?list=transfers',
  '/history?list=ledger',
];

interface Look {
  name: string;
  settings: Record<string, unknown>;
  options: BrowserContextOptions;
}

const wide = { width: 1366, height: 768 };
const looks: Look[] = [
  { name: 'dark', settings: { theme: 'dark' }, options: { viewport: wide } },
  { name: 'light', settings: { theme: 'light' }, options: { viewport: wide } },
  { name: 'rtl', settings: { theme: 'dark', language: 'ar-XB' }, options: { viewport: wide } },
  { name: 'long', settings: { theme: 'light', language: 'en-XA', colours: 'blind' }, options: { viewport: wide } },
  { name: '390', settings: { theme: 'dark' }, options: { viewport: { width: 390, height: 844 } } },
];

const email = 'grace@example.org';

inChromium('every page', () => {
  let browser: Browser;
  let exchange: Exchange;

  beforeAll(async () => {
    exchange = await Exchange.start();
    browser = await launch();
    await visit(browser, exchange.url, (visitor) => prepare(visitor));
  });

  afterAll(async () => {
    await browser?.close();
    await exchange?.stop();
  });

  for (const look of looks) {
    it(`is whole in ${look.name}`, async () => {
      await visit(browser, exchange.url, (visitor) => walk(visitor, look), look.options);
    });
  }

  /** prepare gives an account something for each list to show. */
  async function prepare(visitor: Visitor): Promise<void> {
    const { page } = visitor;
    await signUp(visitor, exchange, email);
    await exchange.admin('credit', email, 'USDT', '125000');
    await exchange.admin('credit', email, 'BTC', '1.25');
    const order = { pair: 'BTC/USDT', side: 'BUY', time_in_force: 'GTC', resp_type: 'RESULT' };
    await ask(page, 'POST', '/web/api/spot/open_orders/new', { ...order, type: 'MARKET', time_in_force: 'IOC', amount: '0.1' });
    await ask(page, 'POST', '/web/api/spot/open_orders/new', { ...order, type: 'LIMIT', price: '50000', amount: '0.01' });
    await ask(page, 'POST', '/web/api/account/v2/api-keys', { description: '<b>"bot" & co', scopes: ['read', 'trade'] });
    const { address } = await ask<{ address: string }>(page, 'GET', '/web/api/wallet/v2/io/deposit/BTC/BTC');
    await exchange.admin('devnet', 'send', 'BTC', address, 'BTC', '0.5');
    await exchange.admin('devnet', 'mine', 'BTC', '1');
  }

  /** walk looks at every page, as a guest and as a member, and holds each against the rules. */
  async function walk(visitor: Visitor, look: Look): Promise<void> {
    const { page } = visitor;
    await dress(page, look.settings);
    const faults: string[] = [];
    for (const path of guests) faults.push(...(await examine(visitor, path, `guest-${look.name}`)));

    await dress(page, { ...look.settings, language: 'en' });
    await page.goto('/log-in');
    await logIn(page.getByRole('main'), email);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    await dress(page, look.settings);
    for (const path of members) faults.push(...(await examine(visitor, path, look.name)));
    expect(faults).toEqual([]);
  }
});

/**
 * dress gives the pages that are opened from now on their settings. A page that another process shows may not see yet
 * what the one before it has stored.
 */
async function dress(page: Page, settings: Record<string, unknown>): Promise<void> {
  await page.addInitScript((text) => localStorage.setItem('bourse.settings', text), JSON.stringify(settings));
}

/** ask makes a request of the page's own. */
async function ask<T>(page: Page, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await page.evaluate(
    async ([method, path, body]) => {
      const init: RequestInit = { method, headers: { 'Content-Type': 'application/json' } };
      if (body !== undefined) init.body = body;
      const response = await fetch(path, init);
      return { ok: response.ok, text: await response.text() };
    },
    [method, path, body === undefined ? undefined : JSON.stringify(body)] as [string, string, string | undefined],
  );
  if (!answer.ok || answer.text.includes('"success":false')) throw new Error(`${method} ${path}: ${answer.text}`);
  return JSON.parse(answer.text) as T;
}

/** examine shows a page, keeps a picture, and answers what is wrong with it. */
async function examine(visitor: Visitor, path: string, look: string): Promise<string[]> {
  const { page } = visitor;
  await page.goto(path);
  await page.locator('main h1').first().waitFor();
  await page.waitForFunction(() => document.querySelector('[role=progressbar]') === null);
  const name = path === '/' ? 'markets' : path.slice(1).replace(/[/?=]/g, '-');
  await visitor.shoot(`${name}-${look}`, true);

  const faults: string[] = [];
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  for (const { id, nodes } of violations) faults.push(...nodes.map((node) => `${look} ${path}: ${id}: ${node.html}`));

  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (over > 0) faults.push(`${look} ${path}: ${over} pixels too wide`);
  if (look.endsWith('long')) faults.push(...(await untranslated(page)).map((text) => `${path} has ${text}`));
  return faults;
}

/** untranslated answers the texts that are in no catalogue. What people or the exchange named is in bdi, or no word. */
function untranslated(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent ?? '';
      const named = node.parentElement?.closest('bdi, output, option, script, style');
      if (!named && /[a-z]{3}/.test(text) && !text.includes('~')) found.push(text.trim());
    }
    return found;
  });
}
