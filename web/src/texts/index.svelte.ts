import { en } from './en';
import { lengthened, mirrored } from './pseudo';

export type Key = keyof typeof en;
export type Catalogue = Record<Key, string>;

export interface Language {
  code: string;
  name: string;
  direction: 'ltr' | 'rtl';
  /** pseudo languages show what is not translated, or does not fit; only a sandbox offers them. */
  pseudo: boolean;
  catalogue: () => Catalogue;
}

export const languages: Language[] = [
  { code: 'en', name: 'English', direction: 'ltr', pseudo: false, catalogue: () => en },
  { code: 'en-XA', name: 'Pseudo +40 %', direction: 'ltr', pseudo: true, catalogue: () => lengthened(en) },
  { code: 'ar-XB', name: 'Pseudo RTL', direction: 'rtl', pseudo: true, catalogue: () => mirrored(en) },
];

let shown: { code: string; texts: Catalogue } = $state.raw({ code: 'en', texts: en });

/** chooseLanguage shows all texts in a language; one that is not known is English. */
export function chooseLanguage(code: string): void {
  const language = languages.find((one) => one.code === code) ?? languages[0];
  if (!language) return;

  shown = { code: language.code, texts: language.catalogue() };
  document.documentElement.lang = language.pseudo ? 'en' : language.code;
  document.documentElement.dir = language.direction;
}

/** t answers a text of the catalogue, with values in place of its {names}. */
export function t(key: Key, values: Record<string, string> = {}): string {
  return fill(shown.texts[key], values);
}

/** known tells whether the catalogue has a text, for names that are built from the exchange's words. */
export function known(key: string): key is Key {
  return Object.hasOwn(en, key);
}

/** word answers the text of one of the exchange's words, such as a status, and the word itself where there is none. */
export function word(group: string, value: string): string {
  const key = `${group}.${value}`;
  return known(key) ? t(key) : value;
}

function fill(text: string, values: Record<string, string>): string {
  return text.replace(/\{([a-zA-Z]+)\}/g, (whole, name: string) => values[name] ?? whole);
}
