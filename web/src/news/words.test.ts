import { expect, it } from 'vitest';
import type { Fill } from '../trade/own.svelte';
import { isBefore, ofFills, ofMove } from './words';

const fill: Fill = {
  trade_id: 1, obid: 2, pair: 'BTC/USDT', time: 3, price: '60000', amount: '0.1', total: '6000', fee: '6', side: 'BUY', role: 'MAKER',
};

it('says a single fill with its price, and several as their number', () => {
  const sold = { ...fill, pair: 'ETH/BTC', side: 'SELL' as const };
  expect(ofFills([fill, sold])).toEqual([
    { key: 'news.bought', values: { amount: '0.1', base: 'BTC', price: '60000', quote: 'USDT' } },
    { key: 'news.sold', values: { amount: '0.1', base: 'ETH', price: '60000', quote: 'BTC' } },
  ]);
  expect(ofFills([fill, fill, sold, fill])[0]).toEqual({ key: 'news.fills', values: { count: '3', pair: 'BTC/USDT' } });
  expect(ofFills([])).toEqual([]);
});

it('says the ends of deposits and withdrawals alone', () => {
  const moved = { type: 'DEPOSIT', status: 'DONE', asset: 'BTC', amount: '1' };
  expect(ofMove(moved)).toEqual({ key: 'news.deposited', values: { amount: '1', asset: 'BTC' } });
  expect(ofMove({ ...moved, status: 'PENDING' })).toBeNull();
  expect(ofMove({ ...moved, type: 'TRANSFER_OUT' })).toBeNull();
  expect(ofMove({ ...moved, type: 'WITHDRAWAL', status: 'CANCELED' })?.key).toBe('news.canceled');
});

it('compares when a transfer was done', () => {
  expect(isBefore({ exec_time: '1699999999.999999' }, 1_700_000_000)).toBe(true);
  expect(isBefore({ exec_time: '1700000000.000000' }, 1_700_000_000)).toBe(false);
  expect(isBefore({}, 1_700_000_000)).toBe(false);
});
