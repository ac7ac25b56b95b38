import type { Browser, Locator } from 'playwright-core';
import { expect } from 'vitest';
import { Visitor } from './browser';
import type { Exchange } from './exchange';
import { addAuthenticator } from './person';

/** enrolled opens a browser for an operator, who is invited from the command line, accepts and logs in. */
export async function enrolled(browser: Browser, exchange: Exchange, name: string, role: string): Promise<Visitor> {
  const email = `${name}@example.org`;
  const { code } = JSON.parse(await exchange.admin('operator', 'invite', email, '--name', name, '--role', role)) as { code: string };
  const visitor = await Visitor.open(browser, exchange.desk);
  await addAuthenticator(visitor);
  await accept(visitor, code);
  await visitor.page.getByText('You are an operator.').waitFor();
  await logIn(visitor);
  return visitor;
}

/** accept makes a passkey for the code of an invitation. */
export async function accept({ page }: Visitor, code: string): Promise<void> {
  await page.goto('/operator/accept');
  await page.getByLabel('Code', { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Add passkey' }).click();
}

/** logIn logs an operator in by the passkey. */
export async function logIn({ page }: Visitor): Promise<void> {
  await page.goto('/operator');
  await page.getByRole('link', { name: 'Go to log-in' }).click();
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('button', { name: 'Log out' }).waitFor();
  await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
}

/** visitOf opens a list of the console. */
export async function visitOf({ page }: Visitor, list: string): Promise<void> {
  await page.goto(`/operator/${list}`);
  await page.getByRole('button', { name: 'Log out' }).waitFor();
}

/** row is the entry of a list with a text. */
export function row({ page }: Visitor, text: string): Locator {
  return page.getByRole('main').getByRole('listitem').filter({ hasText: text });
}

/** fill fills the open form of an act, whose button is dead until then, and answers the button. */
export async function fill({ page }: Visitor, act: string, reason: string, name = ''): Promise<Locator> {
  const form = page.getByRole('dialog', { name: act });
  const send = form.getByRole('button', { name: 'Use passkey' });
  expect(await send.isDisabled()).toBe(true);
  await form.getByLabel('Reason', { exact: true }).fill(reason);
  if (name !== '') {
    expect(await send.isDisabled()).toBe(true);
    await form.getByLabel(`Type ${name} to go on`).fill(name);
  }
  return send;
}

/** prepare fills the form of an act on the row with a text, and answers its button. */
export async function prepare(by: Visitor, list: string, of: string, act: string, reason: string, name = ''): Promise<Locator> {
  await visitOf(by, list);
  await row(by, of).getByRole('button', { name: act, exact: true }).click();
  return fill(by, act, reason, name);
}

/** waiting follows the form of an act that waits for a second operator to the list of such acts. */
export async function waiting({ page }: Visitor, act: string, reason: string): Promise<void> {
  await page.getByRole('dialog', { name: act }).getByRole('link', { name: 'Waiting acts' }).click();
  await page.getByRole('heading', { name: 'Waiting acts' }).waitFor();
  await page.getByText(reason).waitFor();
}

/** order orders an act on the row with a text, and wants it done, or to wait for a second operator. */
export async function order(by: Visitor, list: string, of: string, act: string, reason: string, waits = false, name = ''): Promise<void> {
  const send = await prepare(by, list, of, act, reason, name);
  await send.click();
  if (!waits) return by.page.getByRole('log').getByText('Done.').first().waitFor();
  return waiting(by, act, reason);
}
