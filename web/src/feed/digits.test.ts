import { expect, test } from 'vitest';

import { grouped, padded, percentText } from './digits';

test('thousands stand apart, and decimals as they are', () => {
  expect(grouped('1234567.891')).toBe('1\u202f234\u202f567.891');
  expect(grouped('1234567.891', 0)).toBe('1\u202f234\u202f567');
  expect(grouped('0.00012345')).toBe('0.00012345');
  expect(grouped('')).toBe('');
});

test('a percentage has a sign', () => {
  expect(percentText(-3n)).toBe('−0.03\u202f%');
  expect(percentText(1234n)).toBe('+12.34\u202f%');
});

test('prices have all decimals', () => {
  expect(padded('60', 2)).toBe('60.00');
  expect(padded('60.5', 2)).toBe('60.50');
  expect(padded('60', 0)).toBe('60');
});
