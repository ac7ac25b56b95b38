import { shell } from './en';
import type { account } from './en.account';
import type { trade } from './en.trade';
import type { wallet } from './en.wallet';
import { lengthened, mirrored } from './pseudo';

export type Key = keyof typeof shell | keyof typeof account | keyof typeof trade | keyof typeof wallet;

/** Catalogue has the texts that have come so far: those of the shell, and of the pages that were shown. */
export type Catalogue = Partial<Record<Key, string>>;

/** Part is a part of the catalogue that comes with the pages that need it. */
export type Part = 'account' | 'trade' | 'wallet';

const parts: Record<Part, () => Promise<Catalogue>> = {
  account: async () => (await import('./en.account')).account,
  trade: async () => (await import('./en.trade')).trade,
  wallet: async () => (await import('./en.wallet')).wallet,
};

export interface Language {
  code: string;
  name: string;
  direction: 'ltr' | 'rtl';
  /** pseudo languages show what is not translated, or does not fit; only a sandbox offers them. */
  pseudo: boolean;
  /** made makes its texts of the English ones. */
  made: (english: Catalogue) => Catalogue;
}

export const languages: Language[] = [
  { code: 'en', name: 'English', direction: 'ltr', pseudo: false, made: (english) => english },
  { code: 'en-XA', name: 'Pseudo +40 %', direction: 'ltr', pseudo: true, made: lengthened },
  { code: 'ar-XB', name: 'Pseudo RTL', direction: 'rtl', pseudo: true, made: mirrored },
];

let english: Catalogue = $state.raw(shell);
let chosen: Language | undefined = $state.raw(languages[0]);
const texts: Catalogue = $derived(chosen ? chosen.made(english) : english);

/** chooseLanguage shows all texts in a language; one that is not known is English. */
export function chooseLanguage(code: string): void {
  const language = languages.find((one) => one.code === code) ?? languages[0];
  if (!language) return;

  chosen = language;
  document.documentElement.lang = language.pseudo ? 'en' : language.code;
  document.documentElement.dir = language.direction;
}

/** need fetches the texts of a page. */
export async function need(part: Part): Promise<void> {
  const more = await parts[part]();
  if (!Object.keys(more).every((key) => Object.hasOwn(english, key))) english = { ...english, ...more };
}

/** t answers a text of the catalogue, with values in place of its {names}. */
export function t(key: Key, values: Record<string, string> = {}): string {
  return fill(texts[key] ?? key, values);
}

/** known tells whether the catalogue has a text by now, for names that are built from the exchange's words. */
export function known(key: string): key is Key {
  return Object.hasOwn(english, key);
}

/** word answers the text of one of the exchange's words, such as a status, and the word itself where there is none. */
export function word(group: string, value: string): string {
  const key = `${group}.${value}`;
  return known(key) ? t(key) : value;
}

function fill(text: string, values: Record<string, string>): string {
  return text.replace(/\{([a-zA-Z]+)\}/g, (whole, name: string) => values[name] ?? whole);
}
