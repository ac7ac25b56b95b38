import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { describe, inject } from 'vitest';
import { executable } from './chromium';

const pictures = join(import.meta.dirname, '../../bin/web');

/** inChromium is describe where there is a Chromium; without one it skips, or fails where BOURSE_REQUIRE names chromium. */
export const inChromium = ((): typeof describe | typeof describe.skip => {
  if (executable !== null) return describe;
  if ((process.env['BOURSE_REQUIRE'] ?? '').split(' ').includes('chromium')) {
    throw new Error('needs chromium, which BOURSE_REQUIRE says is there');
  }
  process.stdout.write('SKIP needs chromium: make needs\n');
  return describe.skip;
})();

/** launch answers the Chromium that all files share. Each Visitor has cookies, storage and a cache of its own in it. */
export function launch(): Promise<Browser> {
  return chromium.connect(inject('chromium'));
}

/** Visitor is one person's browser: its page, and everything in it that may never happen. */
export class Visitor {
  readonly page: Page;
  /** outage lets the browser itself tell of connections that fail: the test makes them. */
  outage = false;
  readonly #context: BrowserContext;
  readonly #faults: string[];

  private constructor(page: Page, context: BrowserContext, faults: string[]) {
    this.page = page;
    this.#context = context;
    this.#faults = faults;
  }

  static async open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await browser.newContext({ baseURL: url, viewport: { width: 1366, height: 768 }, colorScheme: 'dark', ...options });
    const faults: string[] = [];
    await context.exposeFunction('bourseViolation', (what: string) => faults.push(what));
    await context.addInitScript(() => {
      const tell = (globalThis as unknown as { bourseViolation: (what: string) => void }).bourseViolation;
      addEventListener('securitypolicyviolation', (event) => {
        tell(`policy violation: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
      });
      addEventListener('unhandledrejection', (event) => tell(`rejection: ${String(event.reason)}`));
    });

    const page = await context.newPage();
    const visitor = new Visitor(page, context, faults);
    page.setDefaultTimeout(20_000);
    page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      const refusal = /^Failed to load resource: .*status of (4\d\d|511) /.test(message.text());
      const at = message.location().url;
      const ours = at.includes('/web/') || at.includes('/operator/v1/') || at === page.url();
      const outage = visitor.outage && /net::ERR_|^WebSocket connection to /.test(message.text());
      if (['error', 'warning'].includes(message.type()) && !(refusal && ours) && !outage) faults.push(`console: ${message.text()}`);
    });
    return visitor;
  }

  /** shoot keeps a picture of what is seen in bin/web, where BOURSE_SHOTS asks for it: a whole page takes long to draw. */
  async shoot(name: string, fullPage = false): Promise<void> {
    if (process.env['BOURSE_SHOTS']) await this.#keep(name, fullPage);
  }

  async #keep(name: string, fullPage = false): Promise<void> {
    await this.page.screenshot({ path: join(pictures, `${name}.png`), fullPage });
  }

  /** close ends the browser's context, and throws what happened in it that may not. */
  async close(): Promise<void> {
    await this.#context.close();
    if (this.#faults.length > 0) throw new Error(this.#faults.join('\n'));
  }

  /** fail keeps a picture of a failed step, and adds what happened before it to its error. */
  async fail(cause: unknown): Promise<never> {
    await this.#keep('failed').catch(() => undefined);
    await this.#context.close();
    throw new Error([String(cause), ...this.#faults].join('\n'), { cause });
  }
}

/** visit opens a browser for the steps of one person. Nothing that may not happen may happen in them. */
export async function visit(
  browser: Browser,
  url: string,
  steps: (visitor: Visitor) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const visitor = await Visitor.open(browser, url, options);
  await steps(visitor).catch((cause: unknown) => visitor.fail(cause));
  await visitor.close();
}
