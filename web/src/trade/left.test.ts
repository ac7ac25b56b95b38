import { expect, test } from 'vitest';

import type { OpenOrder } from '../../client/orders';
import { leftOf } from './left';

test('what is left of an order was neither filled nor prevented', () => {
  const order: OpenOrder = { obid: 1, pair: 'BTC/USDT', time: 0, side: 'SELL', type: 'LIMIT', time_in_force: 'GTC', amount: '0.2' };
  expect(leftOf(order, 8)).toBe('0.2');
  expect(leftOf({ ...order, filled: '0.1' }, 8)).toBe('0.1');
  expect(leftOf({ ...order, filled: '0.1', prevented: '0.05' }, 8)).toBe('0.05');
});
