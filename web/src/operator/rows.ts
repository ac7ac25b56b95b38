import { timeText } from '../app/clock.svelte';
import { visible } from '../app/visible';
import { t, word, type Key } from '../texts/index.svelte';

export type Value = string | number | boolean | null | undefined | readonly Value[] | { readonly [name: string]: Value };

/** Row is an entry of a list, as the exchange answers it. */
export type Row = Readonly<Record<string, Value>>;

/** Name is the name of a member that has a label in the catalogue. */
export type Name = Key extends infer K ? (K extends `fact.${infer N}` ? N : never) : never;

/** Fact is a member of a row that is shown. */
export interface Fact {
  of: Name;
  /**
   * as is how: a time in RFC 3339 or Unix seconds, a yes or no, bytes, an order to cold storage, transactions to and from it, a
   * word of the catalogue, or text to compare by eye.
   */
  as?: 'time' | 'flag' | 'mono' | 'account' | 'bytes' | 'cooling' | 'moves' | `${string}Word`;
  /** sure facts are repeated where an act on the row is confirmed. */
  sure?: boolean;
  /** bad tells the values that an operator has to look at. */
  bad?: (row: Row) => boolean;
}

/** said answers a member as text; one that is absent is empty. */
export function said(row: Row, name: string): string {
  const value = row[name];
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return visible(value.join(', '));
  return visible(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** shown answers a fact of a row as a person reads it; empty where the row has none. */
export function shown(fact: Fact, row: Row): string {
  const value = row[fact.of];
  if (value === undefined || value === null || value === '') return '';
  if (fact.as === 'time') return when(value);
  if (fact.as === 'flag') return value === true ? t('console.yes') : t('console.no');
  if (fact.as === 'bytes' && typeof value === 'number') return `${BigInt(value) >> 20n} MiB`;
  if (fact.as === 'cooling') return ['amount', 'asset', 'reason'].map((name) => said(value as Row, name)).join(' ');
  if (fact.as === 'moves') return (value as Row[]).map((row) => ['kind', 'tx', 'state'].map((name) => said(row, name)).join(' ')).join(', ');
  if (fact.as?.endsWith('Word')) return word(fact.as, String(value));
  return said(row, fact.of);
}

/** when writes a time of the exchange, in RFC 3339 or Unix seconds. */
function when(value: Value): string {
  if (typeof value === 'number') return timeText(value);
  const at = Date.parse(String(value));
  return at === at ? timeText(Math.floor(at / 1000)) : visible(String(value)); // NaN is no time
}

/** filled puts members of a row in place of a path's {names}. A market's BASE/QUOTE becomes BASE-QUOTE. */
export function filled(path: string, row: Row): string {
  return path.replace(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(String(row[name] ?? '').replace('/', '-')));
}
