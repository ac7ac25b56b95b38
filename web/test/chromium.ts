import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** chromium is the address of the Chromium that all files of a run share; empty where there is none. */
    chromium: string;
  }
}

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** executable is the path of Chromium on this machine, or null. */
export const executable: string | null =
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path)) ?? null;

export const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const options = { headless: true, args: flags, ...(executable !== null && { executablePath: executable }) };

/** launch starts a headless Chromium with a new, empty profile. */
export function launch(): Promise<Browser> {
  return chromium.launch(options);
}

/** setup starts the Chromium of a run before its first file, and answers what ends it after the last one. */
export default async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (executable === null) {
    provide('chromium', '');
    return undefined;
  }

  const server = await chromium.launchServer({ ...options, host: '127.0.0.1' });
  provide('chromium', server.wsEndpoint());
  return () => server.close();
}
