import { shell } from './en';
import type { account } from './en.account';
import type { operator } from './en.operator';
import type { trade } from './en.trade';
import type { wallet } from './en.wallet';
import { asIs, builtIn, languageOf, type Make } from './languages';

export type Key = keyof typeof shell | keyof typeof account | keyof typeof operator | keyof typeof trade | keyof typeof wallet;

/** Catalogue has the texts that have come so far: those of the shell, and of the pages that were shown. */
export type Catalogue = Partial<Record<Key, string>>;

let english: Catalogue = $state.raw(shell);
/** make makes the texts that are shown; those that a language lacks stay English. */
let make: Make = $state.raw(asIs);
const texts: Catalogue = $derived(make(english));

/** wanted is the language that was chosen last, whose texts may be under way. */
let wanted = builtIn;

/** chooseLanguage shows all texts in a language, once they have come; until then, and if they do not come, nothing changes. */
export async function chooseLanguage(code: string): Promise<void> {
  const language = languageOf(code, navigator.languages);
  wanted = language;
  const made = await language.load().catch(() => null); // a page in the language before is better than none
  if (made === null || wanted !== language) return;

  make = made;
  document.documentElement.lang = language.pseudo ? 'en' : language.code;
  document.documentElement.dir = language.direction;
}

/** add adds texts to those that have come. */
export function add(more: Catalogue): void {
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
