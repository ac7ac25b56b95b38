import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Visitor } from './browser';

export interface Look {
  name: string;
  settings: Record<string, unknown>;
  options: BrowserContextOptions & { viewport: { width: number; height: number } };
}

const wide = { width: 1366, height: 768 };
export const looks: Look[] = [
  { name: 'dark', settings: { theme: 'dark' }, options: { viewport: wide } },
  { name: 'light', settings: { theme: 'light' }, options: { viewport: wide } },
  { name: 'rtl', settings: { theme: 'dark', language: 'ar-XB' }, options: { viewport: wide } },
  { name: 'long', settings: { theme: 'light', language: 'en-XA', colours: 'blind' }, options: { viewport: wide } },
  { name: '390', settings: { theme: 'dark' }, options: { viewport: { width: 390, height: 844 } } },
];

/**
 * dress gives the pages that are opened from now on their settings. A page that another process shows may not see yet
 * what the one before it has stored.
 */
export async function dress(page: Page, settings: Record<string, unknown>): Promise<void> {
  await page.addInitScript((text) => localStorage.setItem('bourse.settings', text), JSON.stringify(settings));
}

/** examine shows a page, keeps a picture, and answers what is wrong with it. */
export async function examine(visitor: Visitor, path: string, look: string): Promise<string[]> {
  const { page } = visitor;
  await page.goto(path);
  await page.locator('main h1').first().waitFor();
  await page.waitForFunction(() => document.querySelector('[role=progressbar]') === null);
  const name = path === '/' ? 'markets' : path.slice(1).replace(/[/?=]/g, '-');
  await visitor.shoot(`${name}-${look}`, true);

  const faults: string[] = [];
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  for (const { id, nodes } of violations) faults.push(...nodes.map((node) => `${look} ${path}: ${id}: ${node.html}`));

  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (over > 0) faults.push(`${look} ${path}: ${over} pixels too wide`);
  if (look.endsWith('long')) faults.push(...(await untranslated(page)).map((text) => `${path} has ${text}`));
  return faults;
}

/** untranslated answers the texts that are in no catalogue. What people or the exchange named is in bdi, or no word. */
function untranslated(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent ?? '';
      const named = node.parentElement?.closest('bdi, output, option, script, style');
      if (!named && /[a-z]{3}/.test(text) && !text.includes('~')) found.push(text.trim());
    }
    return found;
  });
}
