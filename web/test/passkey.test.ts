import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, visit, type Visitor } from './browser';
import { Exchange } from './exchange';
import { addAuthenticator, addPasskey, logIn, password, requirePasskey, reviewWithdrawal, signUpByRequest, takeFromFaucet } from './person';

inChromium('what an account is confirmed by', () => {
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

  it('is a passkey in place of codes, which logs in by itself, too', async () => {
    const email = 'alan@example.org';
    // Browsers have no passkeys for addresses: the page is at a name.
    await visit(browser, exchange.url.replace('127.0.0.1', 'localhost'), async (visitor) => {
      const { page } = visitor;
      const main = page.getByRole('main');
      await addAuthenticator(visitor);
      await signUpByRequest(visitor, exchange, email);

      await page.goto('/account');
      await addPasskey(visitor, exchange, email);
      await requirePasskey(visitor, 'Logging in');
      await requirePasskey(visitor, 'Withdrawing');

      await page.getByRole('button', { name: 'Log out' }).click();
      await page.goto('/log-in');
      await logIn(main, email);
      await page.getByRole('dialog').getByRole('button', { name: 'Use passkey' }).click();
      await page.getByRole('button', { name: 'Log out' }).click();

      await page.goto('/log-in?to=/wallet/faucet');
      await main.getByRole('button', { name: 'Use passkey' }).click();
      await page.getByRole('heading', { name: 'Faucet' }).waitFor();
      await takeFromFaucet(page, 'BTC');
      await withdraw(visitor);
    });
  });

  it('takes a change of the address back by the code of the letter to the old one', async () => {
    const email = 'ada@example.org';
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      const main = page.getByRole('main');
      await signUpByRequest(visitor, exchange, email);
      await page.goto('/account');
      const panel = page.getByRole('region', { name: 'E-mail' });
      await panel.getByRole('button', { name: 'Change address' }).click();
      await panel.getByLabel('New address').fill('mallory@example.org');
      await panel.getByLabel('Password').fill(password);
      await panel.getByRole('button', { name: 'Change address' }).click();
      const code = page.getByRole('dialog').getByLabel('Code', { exact: true });
      await code.waitFor();
      await code.fill(await exchange.code(email));
      await page.getByRole('dialog').getByRole('button', { name: 'Confirm', exact: true }).click();
      await panel.getByText('A code is on its way to:').waitFor();
      await panel.getByLabel('Code', { exact: true }).fill(await exchange.code('mallory@example.org'));
      await panel.getByRole('button', { name: 'Confirm' }).click();
      await panel.getByText('mallory@example.org').waitFor();

      await page.goto('/log-in');
      await main.getByRole('link', { name: 'Forgotten your password?' }).click();
      await main.getByRole('link', { name: 'Somebody changed your address?' }).click();
      await main.getByLabel('Old e-mail').fill(email);
      await main.getByLabel('Code of the letter').fill('0000-0000-0000-0000');
      await main.getByRole('button', { name: 'Take the change back' }).click();
      await main.getByText('The code is wrong or was used. Check the newest letter.').waitFor();
      await main.getByLabel('Code of the letter').fill((await exchange.code(email, 'undo it')).toLowerCase());
      await main.getByRole('button', { name: 'Take the change back' }).click();
      await page.getByRole('heading', { name: 'New password' }).waitFor();
      await page.getByRole('link', { name: 'Sign up' }).waitFor(); // the thief's session has ended
    });
  });

  /** withdraw sends money out, confirmed by the passkey alone. */
  async function withdraw({ page }: Visitor): Promise<void> {
    const main = page.getByRole('main');
    await reviewWithdrawal(page, exchange);
    await main.getByRole('button', { name: 'Confirm withdrawal' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Use passkey' }).waitFor();
    expect(await dialog.getByLabel('Code', { exact: true }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Use passkey' }).click();
    await page.getByRole('log').getByText('The withdrawal is accepted.').waitFor();
    await exchange.admin('devnet', 'mine', 'BTC', '6');
    await main.getByText('Done', { exact: true }).waitFor();
  }
});
