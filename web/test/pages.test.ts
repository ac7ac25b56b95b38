import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, visit, type Visitor } from './browser';
import { Exchange } from './exchange';
import { dress, examine, looks, type Look } from './looks';
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
