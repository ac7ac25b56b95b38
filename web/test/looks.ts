import axe from 'axe-core';
import type { Page } from 'playwright-core';
import type { Settings } from '../src/app/settings.svelte';
import { shell } from '../src/texts/en';
import { asIs, type Make } from '../src/texts/languages';
import { lengthened, mirrored } from '../src/texts/pseudo';
import type { Visitor } from './browser';

interface Look {
  name: string;
  settings: Partial<Settings> & { theme: 'dark' | 'light' };
  /** make makes the texts of the language in the settings. */
  make: Make;
  viewport: { width: number; height: number };
}

const wide = { width: 1366, height: 768 };
const looks: Look[] = [
  { name: 'dark', settings: { theme: 'dark', language: 'en' }, make: asIs, viewport: wide },
  { name: 'light', settings: { theme: 'light', language: 'en' }, make: asIs, viewport: wide },
  { name: 'rtl', settings: { theme: 'dark', language: 'ar-XB' }, make: mirrored, viewport: wide },
  { name: 'long', settings: { theme: 'light', language: 'en-XA', colours: 'blind' }, make: lengthened, viewport: wide },
  { name: '390', settings: { theme: 'dark', language: 'en' }, make: asIs, viewport: { width: 390, height: 844 } },
];

/**
 * examine opens a page as somebody, gives it one look after the other, and answers what is wrong with it in any. The page
 * is loaded once: its theme and its language change as they do when another tab changes them.
 */
export async function examine(visitor: Visitor, path: string, as: string): Promise<string[]> {
  const { page } = visitor;
  await page.goto(path);
  await page.locator('main h1').first().waitFor();
  const faults: string[] = [];
  for (const look of looks) {
    await wear(page, look);
    await page.waitForFunction(() => document.querySelector('[role=progressbar]') === null);
    await visitor.shoot(`${as}-${path === '/' ? 'markets' : path.slice(1).replace(/[/?=]/g, '-')}-${look.name}`, true);
    faults.push(...(await faultsOf(page)).map((fault) => `${look.name}: ${fault}`));
    if (look.name === 'long') faults.push(...(await untranslated(page)).map((text) => `not translated: ${text}`));
  }
  return faults;
}

/** wear gives an open page a look, and waits until it shows it. */
async function wear(page: Page, { settings, make, viewport }: Look): Promise<void> {
  await page.setViewportSize(viewport);
  await page.evaluate((text) => {
    localStorage.setItem('bourse.settings', text);
    dispatchEvent(new StorageEvent('storage', { key: 'bourse.settings' }));
  }, JSON.stringify(settings));

  const shown = { shade: settings.theme, skip: make(shell)['shell.skip'] };
  await page.waitForFunction(({ shade, skip }) => {
    return document.documentElement.dataset['shade'] === shade && document.querySelector('.skip')?.textContent === skip;
  }, shown);
}

/** faultsOf answers which rules of axe a page breaks, of all or of those in options, and whether it is wider than its window. */
export async function faultsOf(page: Page, options: axe.RunOptions = {}): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async (more) => {
    const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
    // By default Axe describes each element that passes a rule, too.
    const { violations } = await run({ resultTypes: ['violations'], preload: { assets: ['media'] }, ...more });
    const faults = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth > clientWidth ? [...faults, `${scrollWidth - clientWidth} pixels too wide`] : faults;
  }, options);
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
