import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, Visitor } from './browser';
import { Exchange } from './exchange';
import { enrolled, prepare, visitOf } from './operators';
import { badge, order, place } from './order';
import { addAuthenticator, addPasskey, deposit, requirePasskey, reviewWithdrawal, signUpByRequest, takeFromFaucet } from './person';
import { take } from './picture';

const market = '/trade/BTC-USDT';

/** MOST is the size of a picture in docs/web.md, in bytes. */
const MOST = 60_000;

inChromium('a venue', () => {
  let browser: Browser;
  let exchange: Exchange;
  let ann: Visitor;
  let bob: Visitor;
  let olga: Visitor;

  beforeAll(async () => {
    exchange = await Exchange.start('--no-bots', '--admin-listen=127.0.0.1:0');
    browser = await launch();
    olga = await enrolled(browser, exchange, 'olga', 'operator');
    // A sandbox lets withdrawals go by itself, but not those of a network that is paused.
    await exchange.admin('withdrawals', 'limit', 'BTC', '1');
    await exchange.admin('withdrawals', 'pause', 'BTC');
    ann = await customer('ann');
    bob = await customer('bob');
  });

  afterAll(async () => {
    await browser?.close();
    await exchange?.stop();
  });

  it('takes money in, has it traded, lets it out, and is right', async () => {
    await steps().catch((cause: unknown) => ann.fail(cause));
    for (const one of [ann, bob, olga]) await one.close();
  });

  async function steps(): Promise<void> {
    await bring();
    await trade();
    const address = await withdraw();
    await approve(address);

    await exchange.admin('withdrawals', 'resume', 'BTC');
    await ann.page.getByRole('main').getByText('Done', { exact: true }).waitFor(); // the network has taken it
    await exchange.admin('devnet', 'mine', 'BTC', '1');
    expect(JSON.parse(await exchange.admin('devnet', 'balance', 'BTC', address, 'BTC'))).toEqual({ balance: '0.25' });

    await prove();
  }

  /** customer opens a browser for a person with an account, at a name, because passkeys are not for addresses. */
  async function customer(name: string): Promise<Visitor> {
    const visitor = await Visitor.open(browser, exchange.url.replace('127.0.0.1', 'localhost'));
    await addAuthenticator(visitor);
    await signUpByRequest(visitor, exchange, `${name}@example.org`);
    return visitor;
  }

  /** bring deposits Ann's bitcoins, and gives Bob dollars. */
  async function bring(): Promise<void> {
    await deposit(ann, exchange);
    await shown(ann, 'venue-deposit');
    await exchange.admin('devnet', 'mine', 'BTC', '6');
    await ann.page.getByRole('main').getByText('Done', { exact: true }).waitFor();

    await bob.page.goto('/wallet/faucet');
    await takeFromFaucet(bob.page, 'USDT');
  }

  /** trade has Ann sell to Bob, each in the own browser. */
  async function trade(): Promise<void> {
    for (const { page } of [ann, bob]) {
      await page.goto(market);
      await badge(page, 'Live').waitFor();
    }
    await place(ann.page, 'Sell', '60500', '0.2');
    await expect.poll(() => order(ann.page).status.innerText()).toBe('Accepted');
    await place(bob.page, 'Buy', '60400', '0.05');
    await expect.poll(() => order(bob.page).status.innerText()).toBe('Accepted');
    await place(bob.page, 'Buy', '60500', '0.1');
    await expect.poll(() => order(bob.page).status.innerText()).toBe('Filled');
    await expect.poll(() => order(ann.page).status.innerText()).toBe('Accepted: 0.1 filled, the rest is in the book');
    await shown(ann, 'venue-seller');
    await shown(bob, 'venue-buyer');
  }

  /** withdraw has Ann send 0.25 BTC out with her passkey, and answers where to. */
  async function withdraw(): Promise<string> {
    const { page } = ann;
    await addPasskey(ann, exchange, 'ann@example.org');
    await requirePasskey(ann, 'Withdrawing');
    const address = await reviewWithdrawal(page, exchange);
    await page.getByRole('main').getByRole('button', { name: 'Confirm withdrawal' }).click();
    const passkey = page.getByRole('dialog').getByRole('button', { name: 'Use passkey' });
    await passkey.waitFor();
    await shown(ann, 'venue-passkey');
    await passkey.click();
    await page.getByRole('log').getByText('The withdrawal is accepted.').waitFor();
    return address;
  }

  /** approve lets the withdrawal to an address go, on the console. */
  async function approve(address: string): Promise<void> {
    const send = await prepare(olga, 'withdrawals', address, 'Approve', 'Ann confirmed the address on the phone');
    await shown(olga, 'venue-approve');
    await send.click();
    await olga.page.getByRole('log').getByText('Done.').waitFor();
    await visitOf(olga, 'log');
    await olga.page.getByText('Ann confirmed the address on the phone').first().waitFor();
  }

  /** prove wants the money to be right by the console, and money and books by the journal alone. */
  async function prove(): Promise<void> {
    await olga.page.goto('/operator');
    await olga.page.getByText(/^The money is right after command/).waitFor();
    await shown(olga, 'venue-solvency');
    expect(JSON.parse(await exchange.admin('audit'))).toMatchObject({ violations: [] });
  }

  /** shown takes a picture of a page that has everything. */
  async function shown({ page }: Visitor, name: string): Promise<void> {
    await page.waitForFunction(() => document.querySelector('[role=progressbar]') === null);
    expect(await take(page, name)).toBeLessThanOrEqual(MOST);
  }
});
