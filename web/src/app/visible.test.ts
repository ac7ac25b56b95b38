import { expect, it } from 'vitest';
import { visible } from './visible';

it('shows what would reorder or hide', () => {
  expect(visible('a\u202eb\u0000c\nd\u200be')).toBe('a\ufffdb\u2400c\u240ad\ufffde');
  expect(visible('<b>Ж 漢 é</b>')).toBe('<b>Ж 漢 é</b>');
});
