import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, visit } from './browser';
import { Exchange } from './exchange';
import { signUpByRequest } from './person';

const email = 'ada@example.org';
const order = { pair: 'BTC/USDT', type: 'LIMIT', time_in_force: 'GTC', price: '50000', resp_type: 'RESULT' };

inChromium('news of money', () => {
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

  it('are told on any page and by mail, as the account wishes', async () => {
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      await signUpByRequest(visitor, exchange, email);
      const [ada, bob] = [await key(email), await key('bob@example.org')];
      await exchange.admin('credit', email, 'USDT', '100000');
      await exchange.admin('credit', 'bob@example.org', 'BTC', '1');

      await page.goto('/account');
      const section = page.getByRole('region', { name: 'News of your money' });
      const mail = section.getByRole('group', { name: 'By e-mail' });
      await wish(mail.getByRole('checkbox', { name: 'Fills' }), true);
      await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
      await place({ ...order, api_key: ada, side: 'BUY', amount: '0.3' });
      await place({ ...order, api_key: bob, side: 'SELL', amount: '0.1' });
      const told = page.getByRole('log', { name: 'Notices' });
      await told.getByText('Bought 0.1 BTC at 50000 USDT.').waitFor();
      await visitor.shoot('news');
      await expect.poll(() => exchange.letters(email).then((list) => list[0]?.text), { timeout: 30_000 }).toContain('Bought 0.1 BTC for 5000 USDT');

      await transfer(bob, '0.25');
      await told.getByText('A member sent you 0.25 BTC.').waitFor();

      const shown = section.getByRole('group', { name: 'In these pages' }).getByRole('checkbox', { name: 'Fills' });
      await wish(shown, false);
      await place({ ...order, api_key: bob, side: 'SELL', amount: '0.15' });
      await transfer(bob, '0.25');
      await told.getByText('A member sent you 0.25 BTC.').nth(1).waitFor();
      await wish(shown, true);
      await place({ ...order, api_key: bob, side: 'SELL', amount: '0.05' });
      await told.getByText('Bought 0.05 BTC at 50000 USDT.').waitFor();
      expect(await told.getByText('Bought 0.15').count()).toBe(0);

      await wish(shown, false);
      await page.reload();
      await mail.getByRole('checkbox', { name: 'Fills', checked: true }).waitFor();
      expect(await shown.isChecked()).toBe(false);

      // The page that is loaded anew tells nothing again.
      await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
      await transfer(bob, '0.125');
      await told.getByText('A member sent you 0.125 BTC.').waitFor();
      expect(await told.getByText('0.25 BTC').count()).toBe(0);
    });
  });

  /** wish sets a box, and waits until it may be set again: the exchange has stored the wish. */
  async function wish(box: Locator, on: boolean): Promise<void> {
    await box.setChecked(on);
    await expect.poll(() => box.isEnabled()).toBe(true);
  }

  /** key makes a key of an account, and the account itself where there is none. */
  async function key(of: string): Promise<string> {
    if (of !== email) await exchange.admin('account', 'create', of);
    const made = await exchange.admin('key', 'create', of, '--name', 'test', '--scopes', 'read,trade,withdraw');
    return (JSON.parse(made) as { api_key: string }).api_key;
  }

  async function place(body: Record<string, string>): Promise<void> {
    await post('/spot/open_orders/new', body);
  }

  async function transfer(from: string, amount: string): Promise<void> {
    await post('/wallet/transfer', { api_key: from, asset: 'BTC', amount, email });
  }

  async function post(path: string, body: Record<string, string>): Promise<void> {
    const answer = await fetch(exchange.url + path, { method: 'POST', body: JSON.stringify(body) });
    const text = await answer.text();
    if (!text.includes('"success":true')) throw new Error(`${path}: ${text}`);
  }
});
