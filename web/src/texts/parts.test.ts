import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

import { shell } from './en';
import { account } from './en.account';
import { operator } from './en.operator';
import { trade } from './en.trade';
import { wallet } from './en.wallet';

const root = join(import.meta.dirname, '..');
const parts = { account, trade, wallet };

/** closure returns the sources that a source needs, with itself: those that it imports at once, and later. */
function closure(path: string, seen: Set<string>): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, to = ''] of readFileSync(path, 'utf8').matchAll(/(?:from|import\(|import) ?'(\.[^']+)'/g)) {
    const base = join(dirname(path), to);
    const found = [base, `${base}.ts`].find((one) => /\.(ts|svelte)$/.test(one) && existsSync(one));
    if (found && !found.includes('/texts/')) closure(found, seen);
  }
  return seen;
}

/** keys returns the keys of texts that a source names, and the beginnings of those that it builds. */
function keys(path: string): string[] {
  const source = readFileSync(path, 'utf8');
  const named = [...source.matchAll(/['"`]([a-zA-Z0-9_]+\.[a-zA-Z0-9_.]+)(?:['"`]|\$\{)/g)].map(([, key = '']) => key);
  return named.filter((key) => /^[a-zA-Z0-9]+\./.test(key) && groups.has(key.split('.')[0] ?? ''));
}

const all = { ...shell, ...account, ...operator, ...trade, ...wallet };
const groups = new Set(Object.keys(all).map((key) => key.split('.')[0]));

const routes = [...readFileSync(join(root, 'app/routes.ts'), 'utf8').matchAll(/texts: '(\w+)', load: \(\) => import\('([^']+)'\)/g)];

test.each(routes.map(([, part = '', page = '']) => [page, part]))('%s has the texts that it names', (page, part) => {
  const there = Object.keys({ ...shell, ...parts[part as keyof typeof parts] });
  const known = Object.keys(all);
  const missing = [...closure(join(root, 'app', page), new Set())].flatMap((source) =>
    keys(source)
      .filter((key) => known.some((one) => one.startsWith(key)) && !there.some((one) => one.startsWith(key)))
      .map((key) => `${source}: ${key}`),
  );
  expect(missing).toEqual([]);
});

test('the shell has the texts that it names', () => {
  const first = closure(join(root, 'app/main.ts'), new Set());
  const sources = [...first].filter((source) => source.includes('/app/') && !source.endsWith('routes.ts'));
  const known = Object.keys(all);
  const missing = sources.flatMap((source) => keys(source).filter((key) => known.includes(key) && !Object.hasOwn(shell, key)));
  expect(missing).toEqual([]);
  expect(routes.length).toBeGreaterThan(10);
});

test('a text of the console has no key of another text, because a language has one file for both', () => {
  const others: Record<string, string> = { ...shell, ...account, ...trade, ...wallet };
  expect(Object.entries(operator).filter(([key, text]) => (others[key] ?? text) !== text)).toEqual([]);
});

test('the console has the texts that it names, and no page of customers is in it', () => {
  const sources = [...closure(join(root, 'operator/main.ts'), new Set())];
  const there = Object.keys({ ...shell, ...operator });
  const missing = sources.flatMap((source) =>
    keys(source)
      .filter((key) => Object.keys(all).some((one) => one.startsWith(key)) && !there.some((one) => one.startsWith(key)))
      .map((key) => `${source}: ${key}`),
  );
  expect(missing).toEqual([]);
  expect(sources.filter((source) => !/\/(app|appearance|operator|client)\//.test(source))).toEqual([]);
  expect([...closure(join(root, 'app/main.ts'), new Set())].filter((source) => source.includes('/operator/'))).toEqual([]);
});
