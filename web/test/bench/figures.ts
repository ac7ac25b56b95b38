import { readFile, readdir } from 'node:fs/promises';
import { get } from 'node:http';
import type { Browser, CDPSession, Page } from 'playwright-core';

/** sizeOf answers the bytes of a file as the exchange sends it to a client of gzip. */
export function sizeOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { 'Accept-Encoding': 'gzip', Accept: 'text/html' } }, (answer) => {
      let size = 0;
      answer.on('data', (part: Buffer) => (size += part.length));
      answer.on('end', () => resolve(size));
      answer.on('error', reject);
    }).on('error', reject);
  });
}

/** fetched answers the documents, scripts and styles that a page fetches, the worker's with them. */
export async function fetched(page: Page, path: string): Promise<string[]> {
  const urls = new Set<string>();
  page.context().on('request', (request) => {
    if (/\/assets\/|^[^?]*$/.test(request.url()) && ['document', 'script', 'stylesheet', 'other'].includes(request.resourceType())) urls.add(request.url());
  });
  await page.goto(path);
  await page.locator('main h1').first().waitFor({ state: 'attached' });
  await page.waitForLoadState('networkidle');
  for (const worker of page.workers()) urls.add(worker.url());
  return [...urls].filter((url) => !url.includes('/web/'));
}

/** percentile answers the value below which a share of the values is. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** Times are a page's CPU times in ms. */
interface Times {
  main: number;
  worker: number;
}

/** TICK is Linux's unit of CPU times, in ms. */
const TICK = 10;

/** timesOf reads the CPU times of a browser's pages from the system: those of their main threads, and of their workers. */
export async function timesOf(browser: Browser): Promise<Times> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();

  const times: Times = { main: 0, worker: 0 };
  for (const { type, id } of processInfo) {
    if (type !== 'renderer') continue;
    for (const thread of await readdir(`/proc/${id}/task`)) {
      const stat = await readFile(`/proc/${id}/task/${thread}/stat`, 'utf8').catch(() => '');
      const found = /\((.*)\) \S (.*)/.exec(stat);
      const fields = found?.[2]?.split(' ') ?? [];
      const spent = (Number(fields[10] ?? 0) + Number(fields[11] ?? 0)) * TICK;
      if (thread === String(id)) times.main += spent;
      else if (found?.[1]?.startsWith('DedicatedWorker')) times.worker += spent;
    }
  }
  return times;
}

/** heapOf answers the bytes of a page's heap that are in use after a collection. */
export async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

/** Shown are the intervals of a page's frames and its long tasks, in ms. */
export interface Shown {
  frames: number[];
  long: number[];
}

/** watchFrames notes a page's frames and long tasks for a while. */
export function watchFrames(page: Page, ms: number): Promise<Shown> {
  return page.evaluate(async (duration) => {
    const frames: number[] = [];
    const long: number[] = [];
    const observer = new PerformanceObserver((list) => long.push(...list.getEntries().map((entry) => entry.duration)));
    observer.observe({ type: 'longtask' });
    await new Promise<void>((resolve) => {
      const began = performance.now();
      let last = began;
      const frame = (now: number): void => {
        frames.push(now - last);
        last = now;
        if (now - began < duration) requestAnimationFrame(frame);
        else resolve();
      };
      requestAnimationFrame(frame);
    });
    observer.disconnect();
    return { frames: frames.slice(1), long };
  }, ms);
}

/** watchBadge notes when the badge of the connection changes, by the wall clock in ms. */
export async function watchBadge(page: Page): Promise<() => Promise<{ state: string; at: number }[]>> {
  await page.evaluate(() => {
    const badge = document.querySelector('[role="status"][aria-label="Connection"]');
    if (!badge) throw new Error('no badge');
    const seen: { state: string; at: number }[] = [];
    new MutationObserver(() => seen.push({ state: badge.textContent, at: Date.now() })).observe(badge, {
      subtree: true, childList: true, characterData: true,
    });
    Object.assign(globalThis, { seen });
  });
  return () => page.evaluate(() => (globalThis as unknown as { seen: { state: string; at: number }[] }).seen);
}
