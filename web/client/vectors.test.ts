// The vectors are the results of the exchange's own code; a Go test keeps them current.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import { Book, type BookLevel, type BookMessage } from './book';
import * as decimal from './decimal';
import { estimate, lotUnit, type Draft, type Level, type OrderType, type Side, type Terms, type TimeInForce } from './estimate';

function lines(name: string): string[] {
  return readFileSync(new URL(`./testdata/${name}`, import.meta.url), 'utf8').trimEnd().split('\n');
}

function orRefusal(compute: () => bigint): string {
  try {
    const result = compute();
    return result > decimal.MAX_AMOUNT ? '!' : result.toString();
  } catch (error) {
    expect(error).toBeInstanceOf(decimal.DecimalError);
    return '!';
  }
}

describe('amounts', () => {
  const all = lines('amounts.txt');

  test('there are 6,000', () => expect(all).toHaveLength(6000));

  test('are computed as the exchange does', () => {
    for (const line of all) {
      const [verb, a = '', b = '', c = '', d = ''] = line.split('\t');
      switch (verb) {
        case 'parse':
          expect(orRefusal(() => decimal.parse(a, integer(b))), line).toBe(c);
          break;
        case 'format':
          expect(decimal.format(BigInt(a), integer(b)), line).toBe(c);
          expect(decimal.formatFixed(BigInt(a), integer(b)), line).toBe(d);
          expect(decimal.parseFixed(d, integer(b)), line).toBe(BigInt(a));
          break;
        case 'muldiv':
          expect(orRefusal(() => decimal.mulDiv(BigInt(a), BigInt(b), BigInt(c))), line).toBe(d);
          break;
        case 'fee':
          expect(decimal.feeOn(decimal.parseRate(a), BigInt(b)).toString(), line).toBe(c);
          break;
        default:
          expect.unreachable(line);
      }
    }
  });
});

describe('orders', () => {
  const all = lines('orders.txt');

  test('there are 3,000', () => expect(all).toHaveLength(3000));

  test('hold, trade, pay and rest as the engine lets them', () => {
    for (const line of all) {
      const [terms = '', draft = '', funds = '', levels = '', outcome] = line.split('\t');
      const t = readTerms(terms);
      expect(outcomeOf(t, readDraft(draft), readLevels(levels), BigInt(funds)), line).toBe(outcome);
    }
  });
});

function integer(text: string): number {
  return Array.from({ length: 40 }, (_, n) => `${n}`).indexOf(text);
}

function bigints(words: string[]): bigint[] {
  return words.map((word) => BigInt(word));
}

function readTerms(line: string): Terms {
  const words = line.split(' ');
  const [basePrecision = 0, quotePrecision = 0, baseScale = 0, quoteScale = 0] = words.slice(0, 4).map(integer);
  const [minOrder = 0n, maxPrice = 0n, initialPrice = 0n, last = 0n, ...rates] = bigints(words.slice(4));
  const [collar = 0n, band = 0n, maker = 0n, taker = 0n] = rates;
  return {
    basePrecision, quotePrecision, baseScale, quoteScale, open: true, minOrder, maxPrice, initialPrice, last,
    collar, band, maker, taker,
  };
}

function readDraft(line: string): Draft {
  const words = line.split(' ');
  const [price = 0n, stop = 0n, lots = 0n, total = 0n] = bigints(words.slice(4));
  return {
    side: words[0] as Side, type: words[1] as OrderType, timeInForce: words[2] as TimeInForce,
    postOnly: words[3] === 'true', price, stop, lots, total,
  };
}

function readLevels(line: string): Level[] {
  const words = line.split(' ').filter((word) => word !== '');
  return words.map((word) => {
    const [price = 0n, lots = 0n] = bigints(word.split(':'));
    return [price, lots];
  });
}

function outcomeOf(t: Terms, d: Draft, levels: Level[], funds: bigint): string {
  const e = estimate(t, d, levels, funds);
  if (e.refusal !== null) {
    return e.refusal;
  }
  expect(e.base).toBe(e.filled * lotUnit(t));
  return [e.waits, e.hold, e.filled, e.base, e.quote, e.fee, e.worst, e.rests, e.killed, e.restHold].join(' ');
}

describe('books', () => {
  const all = lines('book.txt');

  test('there are 1,000 messages', () => expect(all).toHaveLength(1000));

  test('follow the exchange’s', () => {
    let book = new Book(0, 0);
    for (const line of all) {
      const next = message(line);
      if (next.prev === undefined) book = bookOf(line);
      expect(book.apply(next), line).toBe(true);
      const sides = [book.bids, book.asks].map((levels) => summary(book, levels));
      expect(sides, line).toEqual(line.split('\t').slice(2));
    }
  });

  test('are given up at a gap', () => {
    const [first, second, third, fourth] = all.slice(0, 4).map((line) => message(line));
    if (!first || !second || !third || !fourth) expect.unreachable();
    const book = bookOf(all[0] ?? '');
    expect(book.apply(first)).toBe(true);
    expect(book.apply(third)).toBe(false);
    expect(book).toMatchObject({ seq: -1, bids: [], asks: [] });
    expect(book.apply(fourth)).toBe(false);
    expect(book.apply(first)).toBe(true);
    expect(book.apply(second)).toBe(true);
  });

  test('refuse a text with other decimals than the market’s', () => {
    const book = new Book(3, 2);
    const apply = (price: string, amount: string) => book.apply({ seq: 1, bids: [[price, amount]], asks: [] });
    expect(() => apply('1.0', '1.000')).toThrow(decimal.DecimalError);
    expect(() => apply('1.00', '1.0000')).toThrow(decimal.DecimalError);
    expect(apply('1.00', '1.000')).toBe(true);
  });
});

function message(line: string): BookMessage {
  return JSON.parse(line.split('\t')[1] ?? '') as BookMessage;
}

function bookOf(line: string): Book {
  const [base = 0, quote = 0] = (line.split('\t')[0] ?? '').split(' ').map(integer);
  return new Book(base, quote);
}

function summary(book: Book, levels: readonly BookLevel[]): string {
  const sum = levels.reduce((total, level) => total + level.lots, 0n);
  const best = JSON.stringify(levels.slice(0, 3).map((level) => level.text));
  return `${levels.length} ${decimal.format(sum, book.basePrecision)} ${best}`;
}
