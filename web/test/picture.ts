import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** folder takes the pictures of the documents: `make web-pictures` names theirs, tests keep them with others. */
const folder = process.env['BOURSE_PICTURES'] ?? join(import.meta.dirname, '../../bin/web');

/** take writes a picture of what is seen, and answers its size in bytes. */
export async function take(page: Page, name: string): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
  const picture = Buffer.from(data, 'base64');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.webp`), picture);
  return picture.length;
}
