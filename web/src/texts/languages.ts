type Texts = Partial<Record<string, string>>;

/** Make makes a language's texts of the English ones. */
export type Make = (english: Texts) => Texts;

export interface Language {
  code: string;
  name: string;
  direction: 'ltr' | 'rtl';
  /** pseudo languages show what is not translated, or does not fit; only a sandbox offers them. */
  pseudo: boolean;
  /** load fetches what makes the texts. */
  load: () => Promise<Make>;
}

/** SYSTEM is the setting that follows the browser's languages. */
export const SYSTEM = 'system';

/** asIs leaves the English texts. */
export const asIs: Make = (english) => english;

/** builtIn is English, which has every text. */
export const builtIn: Language = { code: 'en', name: 'English', direction: 'ltr', pseudo: false, load: async () => asIs };

export const languages: readonly Language[] = [
  builtIn,
  ...added(),
  { code: 'en-XA', name: 'Pseudo +40 %', direction: 'ltr', pseudo: true, load: async () => (await import('./pseudo')).lengthened },
  { code: 'ar-XB', name: 'Pseudo RTL', direction: 'rtl', pseudo: true, load: async () => (await import('./pseudo')).mirrored },
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
    load: async () => {
      const texts = await textsOf(file);
      return (english) => ({ ...english, ...texts });
    },
  }));
}

/** PATIENCE is how long a page waits for its language, in milliseconds. */
const PATIENCE = 10_000;

async function textsOf(file: string): Promise<Texts> {
  const answer = await fetch(file, { signal: AbortSignal.timeout(PATIENCE) });
  if (!answer.ok) throw new Error(`${file}: ${String(answer.status)}`);
  return (await answer.json()) as Texts;
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
