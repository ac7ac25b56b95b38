import { expect, test } from 'vitest';
import { Tape, TAPE, type TapeMessage } from './tape';

/** message has the trades from first to last behind prev. */
function message(prev: number, first: number, last: number): TapeMessage {
  const ids = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  return {
    prev, skipped: first - prev - 1,
    trades: ids.map((id) => ({ trade_id: id, price: '1', amount: '1', side: 'BUY', time: 1 })),
  };
}

test('gathers what messages have', () => {
  const tape = new Tape();
  tape.take(message(4, 5, 6));
  tape.take(message(6, 7, 7));
  const { rows, gap } = tape.drain();
  expect([rows.map(({ id }) => id), gap]).toEqual([[5, 6, 7], false]);
  expect(tape.drain()).toEqual({ rows: [], gap: false });
});

test('tells a gap between messages', () => {
  const tape = new Tape();
  tape.take(message(4, 5, 6));
  tape.drain();
  tape.take(message(8, 9, 9));
  const { rows, gap } = tape.drain();
  expect([rows.map(({ id }) => id), gap]).toEqual([[9], true]);
  tape.take(message(9, 10, 10));
  expect(tape.drain().gap).toBe(false);
});

test('tells no gap below what a page shows', () => {
  const tape = new Tape();
  tape.take(message(4, 5, 6));
  tape.take(message(6, 100, 99 + TAPE));
  tape.take(message(99 + TAPE, 100 + TAPE, 101 + TAPE));
  const { rows, gap } = tape.drain();
  expect([rows.length, rows[0]?.id, rows.at(-1)?.id, gap]).toEqual([TAPE, 102, 101 + TAPE, false]);
});
