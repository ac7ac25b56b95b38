import { expect, test } from 'vitest';

import type { Market } from '../feed/markets';
import { arrange, type Wish } from './arrange';

const market = (pair: string, price: string, before: string, volume: string, name = ''): Market => {
  const [base = '', quote = ''] = pair.split('/');
  return { pair, base, quote, base_name: name, quote_name: '', price, price_24h: before, vol_quote: volume, quote_precision: 4 } as Market;
};
const markets = [
  market('ATOM/USDT', '8', '10', '900', 'Cosmos'),
  market('BTC/USDT', '60000', '60000', '1000', 'Bitcoin'),
  market('ETH/BTC', '0.05', '0.04', '10000', 'Ether'),
];
const wish: Wish = { search: '', quote: '', favourites: null, sort: '-volume' };
const pairs = (of: Wish) => arrange(markets, of).map((one) => one.pair);

test('numbers are compared as numbers', () => {
  expect(pairs(wish)).toEqual(['ETH/BTC', 'BTC/USDT', 'ATOM/USDT']);
  expect(pairs({ ...wish, sort: 'price' })).toEqual(['ETH/BTC', 'ATOM/USDT', 'BTC/USDT']);
  expect(pairs({ ...wish, sort: '-change' })).toEqual(['ETH/BTC', 'BTC/USDT', 'ATOM/USDT']);
  expect(pairs({ ...wish, sort: '-pair' })).toEqual(['ETH/BTC', 'BTC/USDT', 'ATOM/USDT']);
});

test('a search finds pairs and names', () => {
  expect(pairs({ ...wish, search: ' cosm' })).toEqual(['ATOM/USDT']);
  expect(pairs({ ...wish, search: 'ethbtc' })).toEqual(['ETH/BTC']);
  expect(pairs({ ...wish, quote: 'USDT', favourites: ['ETH/BTC', 'BTC/USDT'] })).toEqual(['BTC/USDT']);
});
