import { readdir } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { test } from 'vitest';
import { Visitor } from '../browser';
import { launch } from '../chromium';
import { Exchange } from '../exchange';
import { Proxy } from '../proxy';
import { fetched, heapOf, percentile, sizeOf, timesOf, watchBadge, watchFrames } from './figures';
import { scoreOf } from './lighthouse';
import { Load } from './load';
import { rewrite, type Row } from './table';

const TRADE = '/trade/BTC-USDT';

/** QUICK measures for a shorter time, and writes no document. */
const quick = process.env['QUICK'] !== undefined;

/** LEVELS are changed a second, WARM is the time until figures count, and HELD that over which a heap is watched, in ms. */
const LEVELS = 10_000;
const WARM = quick ? 5_000 : 60_000;
const HELD = quick ? 15_000 : 300_000;
const FRAMES = quick ? 5_000 : 30_000;

/** TRIES of losing and finding the exchange; the worst counts. */
const TRIES = quick ? 1 : 5;

const kB = (bytes: number): string => `${Math.round(bytes / 100) / 10} kB`;
const ms = (value: number): string => `${Math.round(value).toLocaleString('en')} ms`;
const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

/** sizes measures what pages fetch, compressed with gzip. */
async function sizes(browser: Browser, exchange: Exchange): Promise<Row[]> {
  const of = new Map<string, { all: number; chart: number }>();
  for (const path of ['/', TRADE, '/sign-up', '/log-in', '/account', '/wallet', '/wallet/deposit', '/wallet/withdraw', '/history', '/status']) {
    const visitor = await Visitor.open(browser, exchange.url);
    const total = { all: 0, chart: 0 };
    for (const url of await fetched(visitor.page, path)) {
      const size = await sizeOf(url);
      total.all += size;
      if (url.includes('/chart-')) total.chart += size;
    }
    await visitor.close();
    of.set(path, total);
  }

  const dist = join(import.meta.dirname, '../../../internal/web/dist/assets');
  let all = 0;
  for (const name of await readdir(dist)) all += await sizeOf(`${exchange.url}/assets/${name}`);
  const trade = of.get(TRADE) ?? { all: NaN, chart: NaN };
  of.delete(TRADE);
  const [largest, most] = [...of].sort(([, a], [, b]) => b.all - a.all)[0] ?? ['', { all: NaN }];
  return [
    { what: 'Trading page, gzip', aim: '≤ 110 kB', measured: `${kB(trade.all)}, of which ${kB(trade.chart)} are the chart`, trial: '83 kB', hollaex: '1,106 kB' },
    { what: `Largest other page, gzip (\`${largest}\`)`, aim: '≤ 60 kB', measured: kB(most.all) },
    { what: 'All files, gzip', aim: '≤ 450 kB', measured: kB(all) },
  ];
}

/** scores asks Lighthouse. */
async function scores(exchange: Exchange): Promise<Row[]> {
  const desktop = await scoreOf(exchange.url + TRADE, 'desktop');
  const mobile = await scoreOf(exchange.url + TRADE, 'mobile');
  return [
    { what: 'Lighthouse, desktop', aim: '≥ 95', measured: String(Math.round(desktop.score)), trial: '100' },
    { what: 'Lighthouse, mobile', aim: '≥ 90', measured: String(Math.round(mobile.score)), trial: '65' },
    { what: 'Largest contentful paint, desktop', aim: '< 800 ms', measured: ms(desktop.lcp) },
    { what: 'Interactive, desktop', aim: '< 1,000 ms', measured: ms(desktop.interactive) },
    { what: 'Layout shift, desktop and mobile', aim: '< 0.02', measured: `${desktop.cls.toFixed(3)}, ${mobile.cls.toFixed(3)}`, trial: '0.5 (mobile)' },
  ];
}

/** open shows the trading page, and waits until its book is live. */
async function open(browser: Browser, url: string): Promise<Visitor> {
  const visitor = await Visitor.open(browser, url);
  visitor.outage = true;
  await visitor.page.goto(TRADE);
  await badge(visitor.page, 'Live');
  await visitor.page.getByLabel(/^Candles of/).locator('canvas').first().waitFor();
  return visitor;
}

async function badge(page: Page, state: string): Promise<void> {
  await page.getByLabel('Connection').and(page.getByText(state, { exact: true })).waitFor();
}

/** underLoad shows a book of which many levels change. */
async function underLoad(browser: Browser): Promise<Row[]> {
  const exchange = await Exchange.start('--no-bots');
  const load = await Load.start(exchange, LEVELS);
  const visitor = await open(browser, exchange.url);
  const session = await visitor.page.context().newCDPSession(visitor.page);
  await visitor.page.waitForTimeout(WARM);

  const [changes, began, before] = [load.changes, performance.now(), await timesOf(browser)];
  const { frames, long } = await watchFrames(visitor.page, FRAMES);
  const after = await timesOf(browser);
  const spent = performance.now() - began;
  const rate = Math.round((load.changes - changes) / (spent / 1000));

  const held = { at: performance.now(), heap: await heapOf(session) };
  await visitor.page.waitForTimeout(HELD);
  const hour = ((await heapOf(session)) - held.heap) * (3_600_000 / (performance.now() - held.at));
  await visitor.close();
  await load.stop();
  await exchange.stop();
  return [
    { what: 'Frames at 10,000 levels a second, half of them within', aim: '≤ 16.7 ms', measured: `${percentile(frames, 0.5).toFixed(1)} ms (${rate.toLocaleString('en')} levels a second)` },
    { what: 'and 99 of 100 within', aim: '≤ 34 ms', measured: `${percentile(frames, 0.99).toFixed(1)} ms`, trial: '33 to 100 ms' },
    { what: 'Long tasks in that time', aim: '0', measured: `${long.length} in ${FRAMES / 1000} s`, trial: '1 to 6 in 8 s' },
    { what: 'Main thread', aim: '≤ 30 % of a core', measured: percent((after.main - before.main) / spent), trial: '11 %' },
    { what: 'Worker', aim: '≤ 10 %', measured: percent((after.worker - before.worker) / spent), trial: '2.6 %' },
    { what: 'Heap, in an hour', aim: '< + 5 MB', measured: `${hour < 0 ? '' : '+ '}${(hour / 1e6).toFixed(1)} MB` },
  ];
}

/** outages kills the exchange and freezes the network under an open page. */
async function outages(browser: Browser): Promise<Row[]> {
  const exchange = await Exchange.start('--no-bots');
  const proxy = await Proxy.start(exchange.url);
  const worst = { lost: 0, live: 0, frozen: 0 };
  const visitor = await open(browser, exchange.url);
  for (let run = 0; run < TRIES; run++) {
    const seen = await watchBadge(visitor.page);
    const killed = Date.now();
    await exchange.kill();
    await badge(visitor.page, 'Offline');
    const lost = (await seen()).find(({ state }) => state === 'Offline');
    await exchange.again();
    const up = Date.now();
    await badge(visitor.page, 'Live');
    const live = (await seen()).findLast(({ state }) => state === 'Live');
    worst.lost = Math.max(worst.lost, (lost?.at ?? NaN) - killed);
    worst.live = Math.max(worst.live, (live?.at ?? NaN) - up);
  }
  await visitor.close();

  const behind = await open(browser, proxy.url);
  for (let run = 0; run < TRIES; run++) {
    const seen = await watchBadge(behind.page);
    const frozen = Date.now();
    proxy.freeze();
    await behind.page.getByLabel('Connection').and(behind.page.getByText(/Stale|Offline/)).waitFor();
    const told = (await seen()).find(({ state }) => state !== 'Live');
    worst.frozen = Math.max(worst.frozen, (told?.at ?? NaN) - frozen);
    proxy.thaw();
    await badge(behind.page, 'Live');
  }
  await behind.close();
  await proxy.stop();
  await exchange.stop();
  return [
    { what: `Killed exchange seen, worst of ${TRIES}`, aim: '< 1 s', measured: ms(worst.lost) },
    { what: 'Frozen network seen', aim: '< 8 s', measured: ms(worst.frozen) },
    { what: 'Live after the exchange serves again', aim: '< 1 s', measured: ms(worst.live), trial: '344 ms' },
  ];
}

test('measures the pages', async () => {
  const busy = loadavg()[0] ?? 0;
  const browser = await launch();
  const exchange = await Exchange.start();
  const rows = await sizes(browser, exchange);
  rows.push(...(await scores(exchange)));
  await exchange.stop();
  rows.push(...(await underLoad(browser)), ...(await outages(browser)));

  const machine =
    `${new Date().toISOString().slice(0, 10)}, Chromium ${browser.version()} without a GPU, ${availableParallelism()} processors ` +
    `(${cpus()[0]?.model ?? 'unknown'}), shared with the exchange and the load; load average before ${busy.toFixed(1)}.`;
  await browser.close();
  for (const { what, aim, measured } of rows) process.stdout.write(`${what}: ${measured} (aim ${aim})\n`);
  process.stdout.write(`${machine}\n`);
  if (!quick) await rewrite(join(import.meta.dirname, '../../../docs/web.md'), rows, machine);
});
