import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inChromium, launch, Visitor } from './browser';
import { Exchange } from './exchange';
import { badge, order, place } from './order';
import { signUp } from './person';
import { Proxy } from './proxy';

const TRADE = '/trade/BTC-USDT';

interface RestBook {
  seq: number;
  bids: { price: string; amount: string }[];
  asks: { price: string; amount: string }[];
}

async function faucet(page: Page, ...assets: string[]): Promise<void> {
  for (const asset of assets) {
    const status = await page.evaluate(async (symbol) => {
      const headers = { 'Content-Type': 'application/json' };
      return (await fetch('/web/api/wallet/v2/faucet', { method: 'POST', headers, body: JSON.stringify({ asset: symbol }) })).status;
    }, asset);
    expect(status).toBe(200);
  }
}

async function api<T>(page: Page, path: string, body: object): Promise<T> {
  return page.evaluate(
    async ([to, json]) => {
      const headers = { 'Content-Type': 'application/json' };
      return (await fetch(`/web/api${to}`, { method: 'POST', headers, body: json })).json() as unknown;
    },
    [path, JSON.stringify(body)] as const,
  ) as Promise<T>;
}

/** row is a row of the book. */
const row = (page: Page, price: string) => page.getByRole('region', { name: 'Order book' }).locator(`[data-price="${price}"]`);

/** shownBook reads the rows of the book from the page, best first. */
async function shownBook(page: Page): Promise<RestBook> {
  return page.getByRole('region', { name: 'Order book' }).evaluate((region) => {
    const rows = (side: string) =>
      [...region.querySelectorAll<HTMLElement>(`[data-side="${side}"] [data-price]`)].map((row) => ({
        price: row.dataset['price'] ?? '',
        amount: row.dataset['amount'] ?? '',
      }));
    return { seq: JSON.parse((region as HTMLElement).dataset['seq'] ?? '-1') as number, bids: rows('BUY'), asks: rows('SELL') };
  });
}

/** sameBook waits until the page shows the book of REST at the same sequence, text by text. */
async function sameBook(page: Page): Promise<void> {
  await expect.poll(async () => {
    const { seq, bids, asks } = await api<RestBook>(page, '/spot/orderbook', { pair: 'BTC/USDT', depth: 8 });
    const shown = await shownBook(page);
    return { rest: { seq, bids, asks }, shown: { ...shown, bids: shown.bids.slice(0, 8), asks: shown.asks.slice(0, 8) } };
  }).toSatisfy(({ rest, shown }: { rest: RestBook; shown: RestBook }) => JSON.stringify(rest) === JSON.stringify(shown));
}

inChromium('trading', () => {
  let exchange: Exchange;
  let browser: Browser;
  let ann: Visitor;
  let bob: Visitor;

  beforeAll(async () => {
    exchange = await Exchange.start('--no-bots');
    browser = await launch();
    ann = await Visitor.open(browser, exchange.url);
    bob = await Visitor.open(browser, exchange.url);
    for (const [who, name] of [[ann, 'ann'], [bob, 'bob']] as const) {
      await signUp(who, exchange, `${name}@example.org`);
      await faucet(who.page, 'BTC', 'USDT');
      await who.page.goto(TRADE);
      await badge(who.page, 'Live').waitFor();
    }
  });

  afterAll(async () => {
    await ann.close();
    await bob.close();
    await browser.close();
    await exchange.stop();
  });

  test('two people trade with each other', async () => {
    await place(ann.page, 'Sell', '60500', '0.2');
    await expect.poll(() => order(ann.page).status.innerText()).toBe('Accepted');
    await ann.page.getByRole('table', { name: 'Open orders' }).getByText('60 500').waitFor();

    // Bob takes the price of the row that he sees.
    await row(bob.page, '60500.00').click();
    const form = order(bob.page);
    await expect.poll(() => form.field('Price').inputValue()).toBe('60500');
    await form.field('Amount').fill('0.1');
    await expect.poll(() => form.field('Total').inputValue()).toBe('6050');
    await form.form.getByText('0.0001 BTC').waitFor();
    await form.submit('Buy BTC');
    await expect.poll(() => form.status.innerText()).toBe('Filled');

    await expect.poll(() => order(ann.page).status.innerText()).toBe('Accepted: 0.1 filled, the rest is in the book');
    await expect.poll(() => ann.page.title()).toMatch(/^60\s500\.00 BTC\/USDT/);
    await bob.page.getByRole('tab', { name: 'Trade history' }).click();
    await bob.page.getByRole('table', { name: 'Trade history' }).getByText('0.0001 BTC').waitFor();
    await bob.page.getByRole('tab', { name: 'Balances' }).click();
    const balance = bob.page.getByRole('table', { name: 'Balances' }).getByRole('row', { name: /^BTC/ });
    await expect.poll(() => balance.innerText()).toContain('1.0999');
    await sameBook(bob.page);
  });

  test('a refused order says why, and what to do', async () => {
    await place(bob.page, 'Buy', '60000', '100');
    await expect.poll(() => order(bob.page).status.innerText()).toMatch(/^Rejected: there is not enough USDT/);
  });

  test('an order far from the last price asks first', async () => {
    await place(bob.page, 'Buy', '70000', '0.001');
    const dialog = bob.page.getByRole('dialog', { name: 'Far from the last price' });
    await dialog.getByText(/15\.70 % worse/).waitFor();
    await dialog.getByRole('button', { name: 'Back' }).click();
    await order(bob.page).field('Price').fill('60000');
  });

  test('an order whose answer is lost is placed once', async () => {
    let lost = 0;
    bob.outage = true;
    await bob.page.route('**/web/api/spot/open_orders/new', async (route) => {
      if (lost++ > 0) return route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    await place(bob.page, 'Buy', '59000', '0.01');
    await expect.poll(() => order(bob.page).status.innerText()).toBe('Accepted');
    await bob.page.unroute('**/web/api/spot/open_orders/new');
    bob.outage = false;
    expect(lost).toBe(2);
    const { orders } = await api<{ orders: object[] }>(bob.page, '/spot/open_orders', { offset: 0 });
    expect(orders).toHaveLength(1);
  });

  test('an order is changed and canceled', async () => {
    const { page } = bob;
    await page.getByRole('tab', { name: 'Open orders' }).click();
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the order' });
    await dialog.getByLabel('Price').fill('58999');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('table', { name: 'Open orders' }).getByText('58 999').waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByText('You have no open orders.').waitFor();
  });

  test('the keyboard alone trades', async () => {
    const { page } = bob;
    await page.getByRole('heading', { name: 'Trades' }).click();
    await page.keyboard.press('s');
    await page.keyboard.press('l');
    await order(page).field('Price').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('62000');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Tab');
    await page.keyboard.type('0.02');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => order(page).status.innerText()).toBe('Accepted');
    await page.getByRole('table', { name: 'Open orders' }).getByText('62 000.01').waitFor();

    await page.getByRole('heading', { name: 'Trades' }).click();
    await page.keyboard.press('Shift+X');
    await page.getByRole('button', { name: 'Cancel all of them' }).press('Enter');
    await page.getByText('You have no open orders.').waitFor();
  });

  test('a part that cannot be loaded says so', async () => {
    const { page } = bob;
    bob.outage = true;
    await page.route('**/assets/Keys-*.js', (route) => route.abort());
    await page.getByRole('heading', { name: 'Trades' }).click();
    await page.keyboard.press('?');
    await page.getByRole('alert').getByRole('button', { name: 'Reload' }).click();
    await badge(page, 'Live').waitFor();
    await page.unroute('**/assets/Keys-*.js');
    bob.outage = false;

    await page.getByRole('heading', { name: 'Trades' }).click();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  test('a chart shows an indicator whose code comes later, also after a reload', async () => {
    const { page } = bob;
    const canvases = page.getByLabel(/^Candles of/).locator('canvas');
    await canvases.first().waitFor();
    const before = await canvases.count();
    await page.getByLabel('Indicators').selectOption('RSI');
    await expect.poll(() => canvases.count()).toBeGreaterThan(before);
    const after = await canvases.count();
    await page.reload();
    await badge(page, 'Live').waitFor();
    await expect.poll(() => canvases.count()).toBe(after);
    await page.getByLabel('Indicators').selectOption('RSI');
    await expect.poll(() => canvases.count()).toBe(before);
  });

  test('rows of the book stand still under the pointer', async () => {
    const { page } = bob;
    await sameBook(page);
    const before = (await shownBook(page)).asks;
    await row(page, '60500.00').hover();
    await page.getByText('Prices stand still while you point').waitFor();
    await place(ann.page, 'Sell', '60400', '0.05');
    await expect.poll(() => order(ann.page).status.innerText()).toBe('Accepted');
    const { seq } = await api<RestBook>(page, '/spot/orderbook', { pair: 'BTC/USDT' });
    await expect.poll(async () => (await shownBook(page)).seq).toBe(seq);
    expect((await shownBook(page)).asks).toEqual(before);
    await page.getByRole('heading', { name: 'Trades' }).hover();
    await sameBook(page);
  });

  test('a page outlives the death of the exchange', async () => {
    const { page } = ann;
    await order(page).field('Amount').fill('0.0123');
    ann.outage = bob.outage = true;
    await exchange.kill();
    await badge(page, 'Offline').waitFor();
    await page.getByText('The connection to the exchange is lost.').waitFor();

    await exchange.again();
    await badge(page, 'Live').waitFor();
    await sameBook(page);
    expect(await order(page).field('Amount').inputValue()).toBe('0.0123');
    const { orders } = await api<{ orders: object[] }>(page, '/spot/open_orders', { offset: 0 });
    await expect.poll(() => page.getByRole('table', { name: 'Open orders' }).locator('tbody tr').count()).toBe(orders.length);
    await place(page, 'Sell', '61000', '0.01');
    await expect.poll(() => order(page).status.innerText()).toBe('Accepted');
  });
});

inChromium('a bad network', () => {
  let exchange: Exchange;
  let proxy: Proxy;
  let browser: Browser;
  let guest: Visitor;

  beforeAll(async () => {
    exchange = await Exchange.start();
    proxy = await Proxy.start(exchange.url);
    browser = await launch();
    guest = await Visitor.open(browser, proxy.url);
    guest.outage = true;
    await guest.page.goto(TRADE);
    await badge(guest.page, 'Live').waitFor();
  });

  afterAll(async () => {
    await guest.close();
    await browser.close();
    await proxy.stop();
    await exchange.stop();
  });

  test('a cut is seen, and mended', async () => {
    await guest.page.evaluate(() => {
      const states: string[] = [];
      const at = document.querySelector('[role="status"][aria-label="Connection"]');
      if (!at) throw new Error('no badge');
      new MutationObserver(() => states.push(at.textContent)).observe(at, { subtree: true, childList: true, characterData: true });
      Object.assign(globalThis, { states });
    });
    proxy.drop();
    await expect.poll(() => guest.page.evaluate(() => (globalThis as unknown as { states: string[] }).states)).toContain('Offline');
    await badge(guest.page, 'Live').waitFor();
  });

  test('a silent network is not called live', async () => {
    proxy.freeze();
    await badge(guest.page, 'Offline').waitFor();
    proxy.thaw();
    await badge(guest.page, 'Live').waitFor();
  });
});

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
    await signUp(ann, exchange, 'ann@example.org');
    await faucet(ann.page, 'USDT');
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
