import { expect, test } from 'vitest';

import { termsOf, type Market } from '../feed/markets';
import { amountFor, bodyOf, farOff, read, share, ticked, totalFor, type Fields } from './order';

const market: Market = {
  pair: 'BTC/USDT', base: 'BTC', quote: 'USDT', base_name: 'Bitcoin', quote_name: 'Tether', base_precision: 6, quote_precision: 2,
  base_scale: 12, quote_scale: 12, state: 'open', min_order: '5', max_price: '1000000', initial_price: '60000', maker_fee: '0.1',
  taker_fee: '0.2', collar: '10', band: '3', price: '60000', price_24h: '60000', high: '60000', low: '60000', vol_base: '0',
  vol_quote: '0', closes: [],
};
const terms = termsOf(market, market, '60000');
const fields: Fields = {
  side: 'BUY', type: 'LIMIT', timeInForce: 'GTC', price: '60000.5', stop: '', amount: '0.1', total: '', by: 'amount', postOnly: true,
};

test('terms are in ticks, lots and ledger units', () => {
  expect(terms).toMatchObject({ minOrder: 5n * 10n ** 12n, last: 6_000_000n, collar: 100_000n, band: 3_000_000n, maker: 1_000n, taker: 2_000n });
});

test('a form becomes a request', () => {
  const { draft } = read(fields, market);
  if (draft === null) expect.unreachable();
  expect(bodyOf(draft, market, 'id')).toEqual({
    pair: 'BTC/USDT', side: 'BUY', type: 'LIMIT', time_in_force: 'GTC', price: '60000.5', amount: '0.1', post_only: true,
    client_id: 'id', resp_type: 'RESULT',
  });
});

test('only a LIMIT order with GTC is post only', () => {
  expect(read({ ...fields, timeInForce: 'IOC' }, market).draft?.postOnly).toBe(false);
  expect(read({ ...fields, type: 'MARKET' }, market).draft).toMatchObject({ postOnly: false, price: 0n });
});

test('fields that are no numbers of the market are faults', () => {
  expect(read({ ...fields, price: '1.001', amount: '1e3' }, market)).toEqual({
    draft: null, faults: { price: 'too_many_decimals', amount: 'not_decimal' },
  });
  expect(read({ ...fields, amount: '0' }, market).faults).toEqual({ amount: 'zero' });
  expect(read({ ...fields, amount: '' }, market)).toEqual({ draft: null, faults: {} });
});

test('an order without a price goes by its amount or its total', () => {
  const byTotal = { ...fields, type: 'MARKET', by: 'total', total: '100' } as const;
  expect(read(byTotal, market).draft).toMatchObject({ lots: 0n, total: 100n * 10n ** 12n });
  expect(read({ ...byTotal, side: 'SELL', type: 'STOP_MARKET', stop: '59000' }, market).draft).toMatchObject({ lots: 100_000n, total: 0n });
});

test('amount and total follow each other without rounding up', () => {
  expect(totalFor('0.1', '60000.5', market, terms)).toBe('6000.05');
  expect(amountFor('6000', '60000.5', market, terms)).toBe('0.099999');
  expect(amountFor('', '60000.5', market, terms)).toBe('');
  expect(amountFor('100', '0', market, terms)).toBe('');
});

test('a share never asks for more than is available', () => {
  const usdt = 1000n * 10n ** 12n;
  expect(share(100n, fields, market, terms, usdt)).toEqual({ by: 'amount', amount: '0.016666', total: '' });
  expect(share(50n, { ...fields, type: 'MARKET' }, market, terms, usdt)).toEqual({ by: 'total', total: '500', amount: '' });
  expect(share(25n, { ...fields, side: 'SELL' }, market, terms, 10n ** 12n)).toEqual({ by: 'amount', amount: '0.25', total: '' });
});

test('a price is far off only where it is worse', () => {
  expect(farOff('BUY', 6_120_000n, 6_000_000n)).toBe(200n);
  expect(farOff('BUY', 5_000_000n, 6_000_000n)).toBe(0n);
  expect(farOff('SELL', 5_850_000n, 6_000_000n)).toBe(250n);
});

test('a tick up and down stays a price', () => {
  expect(ticked('60000', 1n, market)).toBe('60000.01');
  expect(ticked('0.01', -1n, market)).toBe('0.01');
  expect(ticked('1000000', 10n, market)).toBe('1000000');
  expect(ticked('x', 1n, market)).toBe('x');
});
