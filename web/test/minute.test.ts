import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inChromium, launch, visit } from './browser';
import { Exchange } from './exchange';
import { signUp, takeFromFaucet } from './person';

inChromium('the first minute', () => {
  let browser: Browser;
  let exchange: Exchange | undefined;

  beforeAll(async () => {
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    await exchange?.stop();
  });

  it('leads from the program to a fill in a browser', async () => {
    const began = performance.now();
    const time = (what: string): void => {
      process.stdout.write(`from the program to ${what}: ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
    };
    const running = (exchange = await Exchange.start()); // `make run` asks for a picture's digits besides: those are for people
    time('pages');

    await visit(browser, running.url, async (visitor) => {
      const { page } = visitor;
      const main = page.getByRole('main');
      await signUp(visitor, running, 'first@example.org');
      time('an account');

      await page.getByRole('link', { name: 'Wallet' }).click();
      await main.getByRole('button', { name: 'Faucet' }).click();
      await takeFromFaucet(page, 'USDT');

      await page.getByRole('link', { name: 'Trade' }).click();
      const form = page.getByRole('form', { name: 'Order' });
      await form.getByLabel('Type', { exact: true }).selectOption('MARKET');
      await form.getByLabel('Amount', { exact: true }).fill('0.01');
      await form.getByRole('button', { name: 'Buy BTC', exact: true }).click();
      await expect.poll(() => form.getByRole('status').innerText()).toMatch(/^Filled/);
      time('a fill in a browser');
    });
  });
});
