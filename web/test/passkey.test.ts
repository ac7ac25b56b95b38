import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, it } from 'vitest';
import { inChromium, launch, visit, type Visitor } from './browser';
import { Exchange } from './exchange';
import { logIn, signUp } from './person';

const email = 'alan@example.org';

inChromium('a passkey', () => {
  let browser: Browser;
  let exchange: Exchange;

  beforeAll(async () => {
    exchange = await Exchange.start();
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    await exchange?.stop();
  });

  it('confirms what codes confirmed before', async () => {
    // Browsers have no passkeys for addresses: the page is at a name.
    await visit(browser, exchange.url.replace('127.0.0.1', 'localhost'), async (visitor) => {
      const { page } = visitor;
      await addAuthenticator(visitor);
      await signUp(visitor, exchange, email);

      await page.getByRole('link', { name: 'Account' }).click();
      await page.getByRole('button', { name: 'Add passkey' }).click();
      await page.getByLabel('Name of the passkey').fill('laptop');
      await page.getByRole('button', { name: 'Make passkey' }).click();
      await page.getByLabel('Code', { exact: true }).waitFor();
      await page.getByLabel('Code', { exact: true }).fill(await exchange.code(email));
      await page.getByRole('button', { name: 'Confirm', exact: true }).click();
      await page.getByRole('button', { name: 'Remove', exact: true }).waitFor();

      await page.getByRole('checkbox', { name: 'Logging in' }).click();
      await page.getByRole('button', { name: 'Use passkey' }).click();
      await page.getByRole('checkbox', { name: 'Logging in', checked: true }).waitFor();

      await page.getByRole('button', { name: 'Log out' }).click();
      await page.goto('/log-in');
      await logIn(page.getByRole('main'), email);
      await page.getByRole('button', { name: 'Use passkey' }).click();
      await page.getByRole('button', { name: 'Log out' }).waitFor();
    });
  });
});

/** addAuthenticator gives a browser a device that holds passkeys, and a person who always agrees. */
async function addAuthenticator({ page }: Visitor): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
