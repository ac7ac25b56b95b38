const accents: Record<string, string> = {
  a: 'á', c: 'ç', d: 'ð', e: 'é', g: 'ĝ', i: 'í', n: 'ñ', o: 'ö', s: 'š', u: 'ü', y: 'ý', z: 'ž',
  A: 'Å', C: 'Ç', D: 'Ð', E: 'É', G: 'Ĝ', I: 'Î', N: 'Ñ', O: 'Ö', S: 'Š', U: 'Û', Y: 'Ý', Z: 'Ž',
};

/** lengthened makes each text two fifths longer, with accents: what stays plain was not in the catalogue. */
export function lengthened<K extends string>(catalogue: Partial<Record<K, string>>): Partial<Record<K, string>> {
  return each(catalogue, (text) => `${accented(text)} ${'~'.repeat(Math.ceil((text.length * 2) / 5))}`);
}

/** mirrored makes each text as long, and written from right to left. */
export function mirrored<K extends string>(catalogue: Partial<Record<K, string>>): Partial<Record<K, string>> {
  return each(lengthened(catalogue), (text) => `\u202e${text}\u202c`);
}

function each<K extends string>(catalogue: Partial<Record<K, string>>, change: (text: string) => string): Partial<Record<K, string>> {
  return Object.fromEntries(
    Object.entries(catalogue as Record<string, string>).map(([key, text]) => [key, change(text)]),
  ) as Partial<Record<K, string>>;
}

/** accented leaves the {names} of values as they are. */
function accented(text: string): string {
  return text
    .split(/(\{[a-zA-Z]+\})/)
    .map((part) => (part.startsWith('{') ? part : [...part].map((letter) => accents[letter] ?? letter).join('')))
    .join('');
}
