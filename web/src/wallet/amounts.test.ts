import { expect, it } from 'vitest';
import { down, grouped, middle, padded, plain, typed, units } from './amounts';
import { Rates } from './worth';

it('reads what people type', () => {
  expect(typed(' 0.5 ')).toBe(units('0.5'));
  expect(typed('1.23', 2)).toBe(units('1.23'));
  for (const [text, decimals] of [['1.234', 2], ['', 2], ['1e3', 2], ['-1', 2], ['+1', 2], ['1,5', 2], ['٣', 2]] as const) {
    expect(typed(text, decimals)).toBeNull();
  }
});

it('rounds down, and never past the least fee', () => {
  expect(plain(down(units('1.2399'), 2))).toBe('1.23');
  expect(middle('0.00001', '0.001', 8)).toBe('0.000505');
  expect(middle('0.001', '0.0011', 3)).toBe('0.001');
  expect(middle('0.0015', '0.0015', 3)).toBe('0.0015');
});

it('writes columns that stand still', () => {
  expect(padded('1.5', 4)).toBe('1.5000');
  expect(padded('1', 2)).toBe('1.00');
  expect(padded('1', 0)).toBe('1');
  expect(padded('1.23456', 2)).toBe('1.23456');
  expect(grouped(units('1234567.899'))).toBe('1\u2009234\u2009567.89');
});

it('prices an asset over the markets that lead to the reference', () => {
  const markets = [
    { base: 'BTC', quote: 'USDT', price: '50000' },
    { base: 'ETH', quote: 'BTC', price: '0.05' },
    { base: 'NEW', quote: 'ETH', price: '0' },
  ];
  const inUSDT = new Rates(markets, 'USDT');
  expect(plain(inUSDT.worth('ETH', units('2')) ?? 0n)).toBe('5000');
  expect(inUSDT.worth('NEW', units('2'))).toBeNull();
  expect(plain(new Rates(markets, 'BTC').worth('USDT', units('100')) ?? 0n)).toBe('0.002');
});
