import { lengthened, mirrored } from './pseudo';

type Texts = Partial<Record<string, string>>;

export interface Language {
  code: string;
  name: string;
  direction: 'ltr' | 'rtl';
  /** pseudo languages show what is not translated, or does not fit; only a sandbox offers them. */
  pseudo: boolean;
  /** file is the address of the texts of a language that the operator added; empty for those that the pages have. */
  file: string;
  /** made makes the texts of the English ones. */
  made: (english: Texts) => Texts;
}

/** SYSTEM is the setting that follows the browser's languages. */
export const SYSTEM = 'system';

/** builtIn is English, which has every text. */
export const builtIn: Language = { code: 'en', name: 'English', direction: 'ltr', pseudo: false, file: '', made: (english) => english };

export const languages: readonly Language[] = [
  builtIn,
  ...added(),
  { code: 'en-XA', name: 'Pseudo +40 %', direction: 'ltr', pseudo: true, file: '', made: lengthened },
  { code: 'ar-XB', name: 'Pseudo RTL', direction: 'rtl', pseudo: true, file: '', made: mirrored },
];

/** added reads the languages that the exchange put in the page. */
function added(): Language[] {
  const put = globalThis.document?.querySelector<HTMLMetaElement>('meta[name=languages]')?.content;
  const list = put ? (JSON.parse(put) as { code: string; name: string; rtl: boolean; file: string }[]) : [];
  return list.map(({ code, name, rtl, file }) => ({
    code,
    name,
    direction: rtl ? ('rtl' as const) : ('ltr' as const),
    pseudo: false,
    file,
    made: builtIn.made,
  }));
}

/** languageOf answers the language of a setting; one that is not known is English. */
export function languageOf(setting: string, preferred: readonly string[]): Language {
  const code = setting === SYSTEM ? nearest(preferred, languages.filter((one) => !one.pseudo).map((one) => one.code)) : setting;
  return languages.find((one) => one.code === code) ?? builtIn;
}

/** nearest answers the first preferred code that is offered: as it is, or as a language in the same script. */
export function nearest(preferred: readonly string[], offered: readonly string[]): string | undefined {
  for (const code of preferred) {
    const found = offered.find((one) => one === code) ?? offered.find((one) => script(one) === script(code));
    if (found !== undefined) return found;
  }

  return undefined;
}

/** script answers a language and its script, which tells Chinese of Taiwan from that of Singapore. */
function script(code: string): string {
  const likely = new Intl.Locale(code).maximize();
  return `${likely.language} ${likely.script ?? ''}`;
}
