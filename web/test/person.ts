import type { Exchange } from './exchange';
import type { Visitor } from './browser';

export const password = 'correct horse battery';

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
