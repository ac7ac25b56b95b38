import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { api, faucet, row, sameBook, shownBook, TRADE, type RestBook } from './book';
import { inChromium, launch, Visitor } from './browser';
import { Exchange } from './exchange';
import { badge, order, place } from './order';
import { signUpByRequest } from './person';
import { Proxy } from './proxy';

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
      await signUpByRequest(who, exchange, `${name}@example.org`);
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

  test('drawings and favourites of two tabs are kept side by side', async () => {
    const other = await bob.page.context().newPage();
    const tabs = [bob.page, other];
    await other.goto(TRADE);
    await Promise.all(tabs.map((page) => page.getByLabel(/^Candles of/).locator('canvas').first().waitFor()));
    const drawn = (page: Page): Promise<unknown[]> =>
      page.evaluate(() => JSON.parse(localStorage.getItem('bourse.drawings.BTC/USDT') ?? '[]') as unknown[]);
    for (const [i, page] of tabs.entries()) {
      await page.bringToFront();
      await page.getByLabel('Draw').selectOption('horizontalStraightLine');
      // A click before the code has come draws nothing, one after it ends the line.
      await expect.poll(async () => {
        await page.getByLabel(/^Candles of/).click({ position: { x: 100, y: 100 + 60 * i } });
        return (await drawn(page)).length;
      }).toBe(i + 1);
    }

    await bob.page.bringToFront();
    await bob.page.reload();
    await badge(bob.page, 'Live').waitFor();
    await expect.poll(async () => {
      await bob.page.getByRole('button', { name: 'Clear drawings' }).click();
      return drawn(bob.page);
    }).toEqual([]);

    await Promise.all(tabs.map((page) => page.goto('/')));
    const star = (page: Page, name: string): Promise<void> => page.getByRole('button', { name: `Favourite ${name}` }).click();
    await star(bob.page, 'BTC/USDT');
    await star(other, 'ETH/USDT');
    expect(await other.evaluate(() => localStorage.getItem('bourse.favourites'))).toBe('["BTC/USDT","ETH/USDT"]');
    await other.close();
    await bob.page.goto(TRADE);
    await badge(bob.page, 'Live').waitFor();
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
