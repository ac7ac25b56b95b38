import { expect, test } from 'vitest';

import { builtIn, languageOf, nearest, SYSTEM } from './languages';

test.each([
  [['ar-EG', 'en'], ['en', 'ar', 'fr'], 'ar'],
  [['de-CH', 'fr-CH', 'en'], ['en', 'fr'], 'fr'],
  [['en-GB', 'fr'], ['en', 'fr'], 'en'],
  [['zh-TW'], ['en', 'zh', 'zh-Hant'], 'zh-Hant'],
  [['zh-SG'], ['en', 'zh-Hant', 'zh'], 'zh'],
  [['pt-PT'], ['en', 'pt', 'pt-PT'], 'pt-PT'],
  [['sr-Latn'], ['en', 'sr'], undefined],
  [[], ['en', 'ar'], undefined],
])('%j of %j is %s', (preferred, offered, want) => {
  expect(nearest(preferred, offered)).toBe(want);
});

test('a setting that is not known is English, and no browser gets a pseudo language', () => {
  expect(languageOf('tlh', [])).toBe(builtIn);
  expect(languageOf(SYSTEM, ['ar', 'ar-XB'])).toBe(builtIn);
  expect(languageOf('ar-XB', []).direction).toBe('rtl');
});
