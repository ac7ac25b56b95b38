import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, Visitor, visit } from './browser';
import { Exchange } from './exchange';
import { examine } from './looks';
import { accept, enrolled, fill, logIn, order, row, visitOf, waiting } from './operators';
import { addAuthenticator, reviewWithdrawal, signUpByRequest, takeFromFaucet } from './person';

const customer = 'ada@example.org';

const pages = [
  '/operator', '/operator/withdrawals', '/operator/deposits', '/operator/acts', '/operator/accounts', `/operator/accounts/${customer}`,
  '/operator/markets', '/operator/networks', '/operator/catalogue', '/operator/notices', '/operator/webhooks', '/operator/operators', '/operator/keys', '/operator/log', '/operator/settings', '/operator/nowhere',
];

inChromium('the operators’ console', () => {
  let browser: Browser;
  let exchange: Exchange;
  let ann: Visitor;
  let bob: Visitor;

  beforeAll(async () => {
    exchange = await Exchange.start('--no-bots', '--admin-listen=127.0.0.1:0');
    browser = await launch();
    ann = await enrolled(browser, exchange, 'ann', 'owner');
    bob = await enrolled(browser, exchange, 'bob', 'owner');
  });

  afterAll(async () => {
    await ann?.close();
    await bob?.close();
    await browser?.close();
    await exchange?.stop();
  });

  it('takes two operators to let money out, and shows who did what', async () => {
    const eve = await enrolled(browser, exchange, 'eve', 'viewer');

    await order(ann, 'networks', 'BTC', 'Pause withdrawals', 'the node is slow');
    await visit(browser, exchange.url, async (visitor) => {
      const { page } = visitor;
      await signUpByRequest(visitor, exchange, customer);
      await page.goto('/wallet/faucet');
      await takeFromFaucet(page, 'BTC');
      const [wrong, right] = [await withdraw(page), await withdraw(page)];

      await visitOf(ann, 'withdrawals');
      await row(ann, wrong).getByText(wrong, { exact: true }).waitFor();
      await order(ann, 'withdrawals', wrong, 'Deny', 'an address of a thief');
      await row(ann, wrong).waitFor({ state: 'detached' });

      await order(ann, 'withdrawals', right, 'Approve', 'I called her', true);
      expect(await row(ann, 'decide-withdrawal').getByRole('button', { name: 'Drop' }).count()).toBe(1);
      await confirm(bob, 'acts', 'I called her');
      await order(ann, 'networks', 'BTC', 'Resume withdrawals', 'it is fast again', true, 'BTC');
      await confirm(bob, 'acts', 'it is fast again');

      await exchange.admin('devnet', 'mine', 'BTC', '6');
      await page.getByRole('main').getByText('Done', { exact: true }).waitFor();
    });

    await viewed(eve);
    await visitOf(eve, 'log');
    await eve.page.getByText('I called her').first().waitFor();
    await eve.close();
    await changes(ann, bob);
  });

  it('takes two owners to reset a person', () => resets(ann, bob));

  it('offers no approval of what is outdated', async () => {
    await order(ann, 'markets', 'BTC/USDT', 'Halt', 'it trades strangely');
    await order(ann, 'markets', 'BTC/USDT', 'Open', 'it was nothing', true);
    await order(bob, 'markets', 'BTC/USDT', 'Cancels only', 'it was something');
    await visitOf(bob, 'acts');
    const outdated = row(bob, 'it was nothing');
    await outdated.getByText('Outdated by command').waitFor();
    expect(await outdated.getByRole('button').allInnerTexts()).toEqual(['Drop']);
    await outdated.getByRole('button', { name: 'Drop' }).click();
    await bob.page.getByRole('dialog', { name: 'Drop' }).getByRole('button', { name: 'Use passkey' }).click();
    await outdated.waitFor({ state: 'detached' });

    await order(ann, 'markets', 'BTC/USDT', 'Open', 'it is mended', true);
    await confirm(bob, 'acts', 'it is mended');
  });

  it.each(pages)('is whole in every look for an owner: %s', async (path) => {
    expect(await examine(bob, path, 'operator')).toEqual([]);
  });

  it.each(['/operator', '/operator/log-in', '/operator/accept'])('is whole in every look for a guest: %s', async (path) => {
    await visit(browser, exchange.desk, async (guest) => {
      expect(await examine(guest, path, 'guest')).toEqual([]);
    });
  });

  it('looks as its operator chose, before the log-in too', async () => {
    await visit(browser, exchange.desk, async ({ page }) => {
      await page.goto('/operator/log-in');
      await page.getByRole('link', { name: 'Settings' }).click();
      await page.getByLabel('Theme', { exact: true }).selectOption('light');
      await page.locator('html[data-shade=light]').waitFor();
      await page.getByLabel('Language', { exact: true }).selectOption('ar-XB');
      await page.locator('html[dir=rtl]').waitFor();
      await page.goto('/operator/log-in');
      await page.locator('html[data-shade=light][dir=rtl]').waitFor();
    });
  });

  /** withdraw asks for 0.25 BTC, and answers the address that gets it. */
  async function withdraw(page: Page): Promise<string> {
    const address = await reviewWithdrawal(page, exchange);
    await page.getByRole('main').getByRole('button', { name: 'Confirm withdrawal' }).click();
    await page.getByRole('log').getByText('The withdrawal is accepted.').first().waitFor();
    return address;
  }

  /** confirm approves the act with a reason as the second operator. */
  async function confirm(by: Visitor, list: string, reason: string): Promise<void> {
    await visitOf(by, list);
    await row(by, reason).getByRole('button', { name: 'Approve' }).click();
    await by.page.getByRole('dialog', { name: 'Approve' }).getByRole('button', { name: 'Use passkey' }).click();
    await row(by, reason).waitFor({ state: 'detached' });
  }

  /** viewed wants a viewer to be offered no change but the end of the own access, and to be refused others by the exchange. */
  async function viewed(by: Visitor): Promise<void> {
    for (const list of ['markets', 'networks', 'operators', `accounts/${customer}`]) {
      await visitOf(by, list);
      await by.page.waitForFunction(() => document.querySelector('[role=progressbar]') === null);
      expect(await by.page.getByRole('main').getByRole('button').count()).toBe(list === 'operators' ? 1 : 0);
    }
    await visitOf(by, 'operators');
    await row(by, 'eve@example.org').getByRole('button', { name: 'End sessions and keys' }).waitFor();
    const status = await by.page.evaluate(async () => {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"reason":"x"}' };
      return (await fetch('/operator/v1/fees/collect', init)).status;
    });
    expect(status).toBe(403);
  }

  /** changes invites an operator in the console, whom a second owner approves, and sets what takes one owner alone or two. */
  async function changes(ann: Visitor, bob: Visitor): Promise<void> {
    const { page } = ann;
    await visitOf(ann, 'operators');
    await page.getByRole('button', { name: 'Invite' }).click();
    const form = page.getByRole('dialog', { name: 'Invite' });
    await form.getByLabel('E-mail').fill('cyd@example.org');
    await form.getByLabel('Role').selectOption('operator');
    await form.getByLabel('Reason').fill('she joins us');
    await form.getByRole('button', { name: 'Use passkey' }).click();
    const code = await form.getByRole('status', { name: 'Code' }).innerText();
    await form.getByRole('button', { name: 'Close' }).click();

    const cyd = await Visitor.open(browser, exchange.desk);
    await addAuthenticator(cyd);
    await accept(cyd, code);
    await cyd.page.getByText('once a second owner approves it').waitFor();
    const print = await cyd.page.getByRole('status', { name: 'Fingerprint of the passkey' }).innerText();
    await confirm(bob, 'acts', 'she joins us');
    await logIn(cyd);
    await cyd.close();
    await visitOf(ann, 'operators');
    await row(ann, 'cyd@example.org').getByText(print).waitFor();

    await page.goto(`/operator/accounts/${customer}`);
    await page.getByRole('button', { name: 'Freeze' }).click();
    await page.getByRole('dialog').getByText(/^bourse admin --data DIR account freeze [0-9]+$/).waitFor();
    await page.getByRole('dialog').getByLabel('Reason').fill('she asked for it');
    await page.getByRole('dialog').getByRole('button', { name: 'Use passkey' }).click();
    await page.getByRole('button', { name: 'Unfreeze' }).waitFor();
    await catalogue(ann);
  }

  /** resets takes second factors away and replaces the address of an account that its holder lost. */
  async function resets(by: Visitor, second: Visitor): Promise<void> {
    const { account } = JSON.parse(await exchange.admin('account', 'create', 'lea@example.org')) as { account: number };
    const acts = [
      ['Reset second factor', 'lea.1@example.org', 'she lost the device and the mailbox'],
      ['Replace e-mail', 'lea.2@example.org', 'she lost that mailbox, too'],
    ] as const;
    for (const [act, email, reason] of acts) {
      await visitOf(by, `accounts/${account}`);
      await by.page.getByRole('button', { name: act, exact: true }).click();
      await by.page.getByRole('dialog', { name: act }).getByLabel('New e-mail').fill(email);
      await (await fill(by, act, reason, String(account))).click();
      await waiting(by, act, reason);
      await row(by, reason).getByText(email).waitFor();
      await confirm(second, 'acts', reason);
      // It is carried out once the act is journaled; a page that comes before looks again after ten seconds.
      await expect.poll(() => exchange.admin('account', 'show', String(account))).toContain(email);
      await second.page.goto(`/operator/accounts/${email}`);
      await second.page.getByRole('region', { name: 'About the account' }).getByText(email).waitFor();
    }
  }

  /** catalogue previews a document and orders its changes. */
  async function catalogue({ page }: Visitor): Promise<void> {
    await page.goto('/operator/catalogue');
    await page.getByRole('button', { name: 'Load what is listed' }).click();
    await expect.poll(() => page.getByLabel('Document').inputValue()).toContain('"Bitcoin"');
    const document = await page.getByLabel('Document').inputValue();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('It changes nothing.').waitFor();
    await page.getByLabel('Document').fill(document.replace('"Bitcoin"', '"Bitcoin!"'));
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('button', { name: 'Apply' }).click();
    const form = page.getByRole('dialog', { name: 'Apply' });
    await form.getByLabel('Reason').fill('a new name');
    await form.getByLabel('Type Bourse to go on').fill('Bourse');
    await form.getByRole('button', { name: 'Use passkey' }).click();
    await form.getByRole('link', { name: 'Waiting acts' }).waitFor();
  }
});
