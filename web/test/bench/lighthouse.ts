import { chromium } from 'playwright-core';
import { createServer } from 'node:net';
import { executable, flags } from '../chromium';
import { median } from './figures';

/** Report is the part of Lighthouse's answer that is used here. */
interface Report {
  lhr: { categories: { performance: { score: number } }; audits: Record<string, { numericValue?: number }> };
}

type Lighthouse = (url: string, flags: object, config?: object) => Promise<Report>;

/** Score is a page's: of 100, and times in ms. */
export interface Score {
  score: number;
  lcp: number;
  interactive: number;
  cls: number;
}

/** RUNS are made of each page; the medians count. */
const RUNS = 3;

/** scoreOf holds a page against Lighthouse, as seen by a desktop or a phone. */
export async function scoreOf(url: string, form: 'desktop' | 'mobile'): Promise<Score> {
  // They are installed beside this file, for the bench alone.
  const names = ['lighthouse', 'lighthouse/core/config/desktop-config.js'] as const;
  const { default: lighthouse } = (await import(names[0])) as { default: Lighthouse };
  const { default: desktop } = (await import(names[1])) as { default: object };

  const scores: Score[] = [];
  for (let run = 0; run < RUNS; run++) {
    const port = await freePort();
    const browser = await chromium.launch({
      headless: true, args: [...flags, `--remote-debugging-port=${port}`], ...(executable !== null && { executablePath: executable }),
    });
    try {
      const { lhr } = await lighthouse(url, { port, output: 'json', onlyCategories: ['performance'] }, form === 'desktop' ? desktop : undefined);
      const value = (name: string): number => lhr.audits[name]?.numericValue ?? NaN;
      scores.push({
        score: lhr.categories.performance.score * 100,
        lcp: value('largest-contentful-paint'), interactive: value('interactive'), cls: value('cumulative-layout-shift'),
      });
    } finally {
      await browser.close();
    }
  }

  const of = (pick: (one: Score) => number): number => median(scores.map(pick));
  return { score: of((s) => s.score), lcp: of((s) => s.lcp), interactive: of((s) => s.interactive), cls: of((s) => s.cls) };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
