import type { Page } from 'playwright-core';
import { Rest } from '../client/rest';
import type { Exchange } from './exchange';
import type { Visitor } from './browser';

export const password = 'correct horse battery';

/** register makes an account by requests, for tests that begin with one. */
export async function register(exchange: Exchange, email: string): Promise<void> {
  const api = new Rest(`${exchange.url}/web/api`);
  await api.post('/account/v2/signup', { email, password });
  await api.send('PATCH', '/account/v2/signup', { body: { email, password, code: await exchange.code(email) } });
}

/** signUpByRequest registers an account, and logs a browser in by a request, before it has opened any page. */
export async function signUpByRequest({ page }: Visitor, exchange: Exchange, email: string): Promise<void> {
  await register(exchange, email);
  await ask(page, '/web/session', { email, password, remember: false });
}

/** ask makes a request with the cookies of a browser, but outside its pages: a POST if it has a body. */
export async function ask<T>({ request }: Page, path: string, data?: unknown): Promise<T> {
  const answer = await (data === undefined ? request.get(path) : request.post(path, { data }));
  const text = await answer.text();
  if (!answer.ok() || text.includes('"success":false')) throw new Error(`${path}: ${text}`);
  return JSON.parse(text) as T;
}

/** signUp makes an account by the pages, as a person does, and logs in. */
export async function signUp({ page }: Visitor, exchange: Exchange, email: string): Promise<void> {
  const main = page.getByRole('main');
  await page.goto('/');
  await page.getByRole('button', { name: 'Sign up' }).click();
  await main.getByLabel('E-mail', { exact: true }).fill(email);
  await main.getByLabel('Password', { exact: true }).fill(password);
  await main.getByRole('button', { name: 'Create account' }).click();
  await main.getByLabel('Code', { exact: true }).waitFor();

  await main.getByLabel('Code', { exact: true }).fill(await exchange.code(email));
  await main.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await logIn(page.getByRole('main'), email);
  await page.getByRole('button', { name: 'Log out' }).waitFor();
}

type Main = ReturnType<Visitor['page']['getByRole']>;

/** logIn fills the form of the log-in page. */
export async function logIn(main: Main, email: string): Promise<void> {
  await main.getByLabel('E-mail', { exact: true }).fill(email);
  await main.getByLabel('Password', { exact: true }).fill(password);
  await main.getByRole('button', { name: 'Log in' }).click();
}

/** takeFromFaucet takes money of a sandbox, on the faucet's page. */
export async function takeFromFaucet(page: Page, asset: string): Promise<void> {
  const main = page.getByRole('main');
  await main.getByLabel('Asset', { exact: true }).selectOption(asset);
  await main.getByRole('button', { name: 'Faucet' }).click();
  await main.getByRole('status').filter({ hasText: asset }).waitFor();
}

/** reviewWithdrawal fills the form of a withdrawal of 0.25 BTC to an address outside, and answers the address. */
export async function reviewWithdrawal(page: Page, exchange: Exchange): Promise<string> {
  const { address } = JSON.parse(await exchange.admin('devnet', 'address', 'BTC')) as { address: string };
  const main = page.getByRole('main');
  await page.goto('/wallet/withdraw');
  await main.getByLabel('Asset', { exact: true }).selectOption('BTC');
  await main.getByLabel('Network', { exact: true }).selectOption('BTC');
  await main.getByLabel('Address', { exact: true }).fill(address);
  await main.getByLabel('Amount', { exact: true }).fill('0.25');
  await main.getByRole('button', { name: 'Review' }).click();
  return address;
}

/** addAuthenticator gives a browser a device that holds passkeys, and a person who always agrees. */
export async function addAuthenticator({ page }: Visitor): Promise<void> {
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

/** addPasskey adds a passkey in the account's settings. The first one is confirmed by a code of a letter. */
export async function addPasskey({ page }: Visitor, exchange: Exchange, email: string): Promise<void> {
  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByLabel('Name of the passkey').fill('laptop');
  await page.getByRole('button', { name: 'Make passkey' }).click();
  await page.getByLabel('Code', { exact: true }).waitFor();
  await page.getByLabel('Code', { exact: true }).fill(await exchange.code(email));
  await page.getByRole('button', { name: 'Confirm', exact: true }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).waitFor();
}

/** requirePasskey makes a case ask for the passkey from now on, on the account's page. */
export async function requirePasskey({ page }: Visitor, name: 'Logging in' | 'Withdrawing'): Promise<void> {
  await page.getByRole('checkbox', { name }).click();
  await page.getByRole('button', { name: 'Use passkey' }).click();
  await page.getByRole('checkbox', { name, checked: true }).waitFor();
}

/** deposit pays 0.5 BTC from the outside, and sees the first confirmation; more blocks end it. */
export async function deposit({ page }: Visitor, exchange: Exchange): Promise<void> {
  const main = page.getByRole('main');
  await page.goto('/wallet');
  await main.getByRole('button', { name: 'Deposit' }).click();
  await main.getByLabel('Asset', { exact: true }).selectOption('BTC');
  await main.getByLabel('Network', { exact: true }).selectOption('BTC');
  const address = (await main.getByLabel('Address', { exact: true }).textContent()) ?? '';
  await exchange.admin('devnet', 'send', 'BTC', address, 'BTC', '0.5');
  await exchange.admin('devnet', 'mine', 'BTC', '1');
  await main.getByText(/of \d+ confirmations/).waitFor();
}
