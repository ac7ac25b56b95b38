import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faucet, shownBook, TRADE, type RestBook } from './book';
import { inChromium, launch, Visitor } from './browser';
import { Exchange } from './exchange';
import { badge, order } from './order';
import { signUpByRequest } from './person';
import { Proxy } from './proxy';

inChromium('a slow network', () => {
  let exchange: Exchange;
  let proxy: Proxy;
  let browser: Browser;
  let ann: Visitor;

  beforeAll(async () => {
    exchange = await Exchange.start();
    proxy = await Proxy.start(exchange.url);
    browser = await launch();
    ann = await Visitor.open(browser, proxy.url);
    await signUpByRequest(ann, exchange, 'ann@example.org');
    await faucet(ann.page, 'USDT');
    await ann.page.goto('/');
  });

  afterAll(async () => {
    await ann.close();
    await browser.close();
    await proxy.stop();
    await exchange.stop();
  });

  /** LATE is how old what a page calls live may be at the most, in ms: a ping is due each 5 s, and has 1.2 s. */
  const LATE = 7_000;

  /** known are the sequences that the exchange itself told, by the time before each. */
  const known: { at: number; seq: number }[] = [];

  /** held answers what the page calls live though it is older than LATE, for some time. */
  async function held(ms: number, until: (state: string) => boolean = () => false): Promise<string[]> {
    const faults: string[] = [];
    for (const end = performance.now() + ms; performance.now() < end; ) {
      const at = performance.now();
      const answer = await fetch(`${exchange.url}/spot/orderbook`, { method: 'POST', body: JSON.stringify({ pair: 'BTC/USDT', depth: 1 }) });
      known.push({ at, seq: ((await answer.json()) as RestBook).seq });
      const state = await ann.page.getByLabel('Connection').innerText();
      const { seq } = await shownBook(ann.page).catch(() => ({ seq: -1 }));
      const least = known.findLast((one) => one.at < at - LATE)?.seq ?? 0;
      if (state === 'Live' && seq < least) faults.push(`live at ${seq}, while the exchange was at ${least} long before`);
      if (until(state)) break;
      await ann.page.waitForTimeout(200);
    }
    return faults;
  }

  test('of 50 kB/s carries the page, its book and orders', async () => {
    proxy.slow(50_000);
    const { page } = ann;
    await page.goto(TRADE);
    await badge(page, 'Live').waitFor();
    await page.getByRole('region', { name: 'Order book' }).locator('[data-price]').first().waitFor();
    await order(page).field('Amount').fill('0.001');
    await order(page).submit('Buy BTC');
    await expect.poll(() => order(page).status.innerText()).toMatch(/^(Accepted|Filled)/);
    await page.getByLabel(/^Candles of/).locator('canvas').first().waitFor();
    expect(await held(9_000, (state) => state !== 'Live')).toEqual([]);
    await badge(page, 'Live').waitFor();
  });

  test('that is too slow is not called live', async () => {
    ann.outage = true;
    proxy.slow(200);
    expect(await held(30_000, (state) => state !== 'Live')).toEqual([]);
    expect(await ann.page.getByLabel('Connection').innerText()).toMatch(/Stale|Offline/);
    proxy.slow(Infinity);
    await badge(ann.page, 'Live').waitFor();
  });
});
