import { expect, test } from 'vitest';

import { Book, type Row } from '../../client/book';
import { Looker } from './look';

function bookOf(bids: Row[], asks: Row[]): Book {
  const book = new Book(1, 2);
  book.apply({ seq: 1, bids, asks });
  return book;
}

const bids: Row[] = [['10.05', '1.0'], ['10.01', '2.0'], ['9.99', '3.0']];
const asks: Row[] = [['10.06', '1.0'], ['10.10', '1.5'], ['10.11', '0.5']];

test('rows group bids down and asks up, and sum from the best price', () => {
  const looker = new Looker();
  looker.look({ step: 10n, rows: 2, held: null, depth: false });
  const view = looker.view(bookOf(bids, asks));
  expect(view.bids).toEqual([
    { price: '10.00', amount: '3.0', sum: '3.0', share: 500 },
    { price: '9.90', amount: '3.0', sum: '6.0', share: 1000 },
  ]);
  expect(view.asks.map(({ price, sum }) => [price, sum])).toEqual([['10.10', '2.5'], ['10.20', '3.0']]);
  expect(view).toMatchObject({ bid: '10.05', ask: '10.06', spread: '0.01', depth: null });
});

test('rows under the pointer keep their prices, and have the amounts of now', () => {
  const looker = new Looker();
  const lens = { step: 1n, rows: 3, held: null, depth: false } as const;
  looker.look(lens);
  const book = bookOf(bids, asks);
  looker.view(book);
  looker.look({ ...lens, held: 'SELL' });
  book.apply({ prev: 1, seq: 2, bids: [['10.05', '0']], asks: [['10.06', '0'], ['10.08', '4.0']] });
  const view = looker.view(book);
  expect(view.asks.map(({ price, amount, sum }) => [price, amount, sum])).toEqual([
    ['10.06', '0.0', '0.0'], ['10.10', '1.5', '5.5'], ['10.11', '0.5', '6.0'],
  ]);
  expect(view.bids.map((row) => row.price)).toEqual(['10.01', '9.99']);

  looker.look(lens);
  expect(looker.view(book).asks.map((row) => row.price)).toEqual(['10.08', '10.10', '10.11']);
});

test('the depth chart reaches as far on both sides', () => {
  const looker = new Looker();
  looker.look({ step: 1n, rows: 3, held: null, depth: true });
  const { depth } = looker.view(bookOf(bids, asks));
  expect(depth?.bids.at(-1)).toMatchObject({ price: '9.99', sum: '6.0', share: 1000 });
  expect(depth?.asks.at(-1)).toMatchObject({ price: '10.11', sum: '3.0', share: 500 });
});
