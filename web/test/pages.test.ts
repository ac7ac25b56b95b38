import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, Visitor } from './browser';
import { Exchange } from './exchange';
import { examine } from './looks';
import { ask, signUpByRequest } from './person';

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
  let guest: Visitor;
  let member: Visitor;

  beforeAll(async () => {
    exchange = await Exchange.start();
    browser = await launch();
    guest = await Visitor.open(browser, exchange.url);
    member = await Visitor.open(browser, exchange.url);
    await prepare(member);
  });

  afterAll(async () => {
    await guest?.close();
    await member?.close();
    await browser?.close();
    await exchange?.stop();
  });

  it.each(guests)('is whole in every look for a guest: %s', async (path) => {
    expect(await examine(guest, path, 'guest')).toEqual([]);
  });

  it.each(members)('is whole in every look for a member: %s', async (path) => {
    expect(await examine(member, path, 'member')).toEqual([]);
  });

  /** prepare gives an account something for each list to show. */
  async function prepare(visitor: Visitor): Promise<void> {
    const { page } = visitor;
    await signUpByRequest(visitor, exchange, email);
    await exchange.admin('credit', email, 'USDT', '125000');
    await exchange.admin('credit', email, 'BTC', '1.25');
    const order = { pair: 'BTC/USDT', side: 'BUY', time_in_force: 'GTC', resp_type: 'RESULT' };
    await ask(page, '/web/api/spot/open_orders/new', { ...order, type: 'MARKET', time_in_force: 'IOC', amount: '0.1' });
    await ask(page, '/web/api/spot/open_orders/new', { ...order, type: 'LIMIT', price: '50000', amount: '0.01' });
    await ask(page, '/web/api/account/v2/api-keys', { description: '<b>"bot" & co', scopes: ['read', 'trade'] });
    const { address } = await ask<{ address: string }>(page, '/web/api/wallet/v2/io/deposit/BTC/BTC');
    await exchange.admin('devnet', 'send', 'BTC', address, 'BTC', '0.5');
    await exchange.admin('devnet', 'mine', 'BTC', '1');
  }
});
