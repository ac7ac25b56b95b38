import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { OpenOrders, wholeSeconds } from './orders';
import type { Message } from './stream';

/** told reads the messages that the exchange's own test records for an account. */
function told(who: string): Message[] {
  const file = new URL('../../internal/api/stream/testdata/streams.txt', import.meta.url);
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${who} `) && line.includes('"stream":"myOrders"'))
    .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Message);
}

test('orders follow the messages of the exchange', () => {
  for (const who of ['alice', 'bob']) {
    const open = new OpenOrders();
    const ended = new Set<number>();
    const accepted = new Set<number>();
    for (const message of told(who)) {
      const event = open.apply(message);
      if (event?.obid === undefined) continue;
      if (event.event === 'orderAccepted') accepted.add(event.obid);
      if (event.status !== undefined) ended.add(event.obid);
      const now = open.list().find((order) => order.obid === event.obid);
      expect(now === undefined).toBe(ended.has(event.obid));
      if (now && event.filled !== undefined) expect(now.filled).toBe(event.filled);
      if (now && event.price !== undefined) expect(now.price).toBe(event.price);
      if (now && event.amount !== undefined) expect(now.amount).toBe(event.amount);
    }
    expect(accepted.size).toBeGreaterThan(3);
    expect(open.list().map((order) => order.obid)).toEqual([...accepted].filter((id) => !ended.has(id)).sort((a, b) => b - a));
  }
});

test('a reset replaces all orders', () => {
  const open = new OpenOrders();
  for (const message of told('alice')) open.apply(message);
  const order = { obid: 900, pair: 'BTC/USDT', time: '1700000000.000001', side: 'BUY', type: 'LIMIT', time_in_force: 'GTC' };
  open.apply({ class: 'reset', stream: 'myOrders', seq: 99, state: { orders: [order] } });
  expect(open.list()).toEqual([{ ...order, time: 1700000000 }]);
  expect(wholeSeconds('1700000000.000001')).toBe(1700000000);
});

test('an open order shows what self-trade prevention took', () => {
  const open = new OpenOrders();
  const order = { obid: 7, pair: 'BTC/USDT', time: 1700000000, side: 'SELL', type: 'LIMIT', time_in_force: 'GTC', price: '60000', amount: '1' };
  open.apply({ class: 'data', stream: 'myOrders', seq: 1, event: 'orderAccepted', ...order, filled: '0' });
  open.apply({ class: 'data', stream: 'myOrders', seq: 2, event: 'orderUpdate', obid: 7, prevented: '0.25', left: '0.75' });
  expect(open.list()).toEqual([{ ...order, filled: '0', prevented: '0.25' }]);
});
