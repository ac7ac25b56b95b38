import type { Page } from 'playwright-core';

/** order returns the parts of the form. */
export function order(page: Page) {
  const form = page.getByRole('form', { name: 'Order' });
  return {
    form,
    side: (name: 'Buy' | 'Sell') => form.getByText(name, { exact: true }).click(),
    field: (name: string) => form.getByLabel(name, { exact: true }),
    status: form.getByRole('status'),
    submit: (name: string) => form.getByRole('button', { name, exact: true }).click(),
  };
}

/** badge is the badge of the connection in a state. */
export const badge = (page: Page, state: string) => page.getByLabel('Connection').and(page.getByText(state, { exact: true }));

/** place fills the form with a limit order and sends it. */
export async function place(page: Page, side: 'Buy' | 'Sell', price: string, amount: string): Promise<void> {
  const { side: choose, field, submit } = order(page);
  await choose(side);
  await field('Price').fill(price);
  await field('Amount').fill(amount);
  await submit(`${side} BTC`);
}
