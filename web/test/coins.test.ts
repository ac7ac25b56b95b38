import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inChromium, launch, Visitor } from './browser';
import { Exchange } from './exchange';
import { badge, order } from './order';
import { deposit, signUpByRequest, takeFromFaucet } from './person';

/** Transfer is a row of the list of deposits, as text. */
const transfer = (page: Page) => page.getByRole('main').getByRole('listitem');

inChromium('coins', () => {
  let exchange: Exchange;
  let browser: Browser;
  let ada: Visitor;

  beforeAll(async () => {
    exchange = await Exchange.start('--no-bots');
    browser = await launch();
    ada = await Visitor.open(browser, exchange.url);
    await signUpByRequest(ada, exchange, 'ada@example.org');
  });

  afterAll(async () => {
    await ada.close();
    await browser.close();
    await exchange.stop();
  });

  test('a deposit whose block left the chain is credited once, from another', async () => {
    await deposit(ada, exchange);
    await exchange.admin('devnet', 'reorg', 'BTC', '1');
    await exchange.admin('devnet', 'mine', 'BTC', '6');
    await transfer(ada.page).getByText('Done', { exact: true }).waitFor();
    expect(await transfer(ada.page).count()).toBe(1);

    await deposit(ada, exchange);
    await exchange.admin('devnet', 'reorg', 'BTC', '1', '--drop');
    await exchange.admin('devnet', 'mine', 'BTC', '6');
    await transfer(ada.page).getByText('Canceled', { exact: true }).waitFor();
    await ada.page.goto('/wallet');
    await ada.page.getByRole('row', { name: /^BTC/ }).getByText(/^0\.50*$/).first().waitFor();
  });

  test('a deposit with a memo is credited, and its address is shown once the memo is understood', async () => {
    const { page } = ada;
    const main = page.getByRole('main');
    const shown = (label: string) => main.getByLabel(label, { exact: true });
    await page.goto('/wallet/deposit');
    await shown('Asset').selectOption('ATOM');
    const understood = main.getByRole('checkbox', { name: 'I will include the memo' });
    await understood.waitFor();
    expect(await shown('Address').count()).toBe(0);
    await understood.check();
    const [address, memo] = [await shown('Address').innerText(), await shown('Memo').innerText()];
    await exchange.admin('devnet', 'send', 'ATOM', address, 'ATOM', '12.5', '--memo', memo);
    await exchange.admin('devnet', 'mine', 'ATOM', '20');
    await transfer(page).filter({ hasText: '12.5 ATOM' }).getByText('Done', { exact: true }).waitFor();
  });

  test('each market has its own decimals', async () => {
    const { page } = ada;
    for (const asset of ['BTC', 'USDT']) {
      await page.goto('/wallet/faucet');
      await takeFromFaucet(page, asset);
    }
    for (const [pair, price, amount] of [
      ['ATOM-USDT', '8.1234', '1.25'],
      ['BTC-USDT', '60001.55', '0.012345'],
      ['ETH-BTC', '0.04999', '1.234'],
    ] as const) {
      const [base = ''] = pair.split('-');
      await page.goto(`/trade/${pair}`);
      await badge(page, 'Live').waitFor();
      const { field, status, submit } = order(page);
      await field('Price').fill(price);
      await field('Amount').fill(amount);
      await submit(`Buy ${base}`);
      await expect.poll(() => status.innerText()).toBe('Accepted');
      const row = page.getByRole('region', { name: 'Order book' }).locator(`[data-price="${price}"]`);
      await row.waitFor();
      expect(await row.getAttribute('data-amount')).toBe(amount);

      await field('Amount').fill(`${amount}1`);
      await submit(`Buy ${base}`);
      await page.getByRole('form', { name: 'Order' }).getByText(/decimals/).waitFor();
    }
  });
});
