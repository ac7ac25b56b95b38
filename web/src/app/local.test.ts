import { expect, it } from 'vitest';
import { local } from './local';

it('leads to paths of this origin alone', () => {
  for (const path of ['/', '/wallet', '/trade/BTC-USDT?tab=book', '/a//b']) expect(local(path)).toBe(path);
  for (const path of ['', 'wallet', '//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/a\nb', '/\t/evil.example']) {
    expect(local(path)).toBe('/');
  }
});
