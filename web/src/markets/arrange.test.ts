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
  market('ETH/BTC', '0.05', '0.04', '0.016', 'Ether'),
  market('OAK/ELM', '100', '101', '5000', 'Oak'),
];
const wish: Wish = { search: '', quote: '', favourites: null, sort: '-volume' };
const pairs = (of: Wish) => arrange(markets, of).map((one) => one.pair);

test('numbers are compared as numbers, in one unit', () => {
  // 0.016 BTC are worth 960 USDT; nothing leads from ELM to USDT.
  expect(pairs(wish)).toEqual(['BTC/USDT', 'ETH/BTC', 'ATOM/USDT', 'OAK/ELM']);
  expect(pairs({ ...wish, sort: 'price' })).toEqual(['OAK/ELM', 'ATOM/USDT', 'ETH/BTC', 'BTC/USDT']);
  expect(pairs({ ...wish, sort: '-change' })).toEqual(['ETH/BTC', 'BTC/USDT', 'OAK/ELM', 'ATOM/USDT']);
  expect(pairs({ ...wish, sort: '-pair' })).toEqual(['OAK/ELM', 'ETH/BTC', 'BTC/USDT', 'ATOM/USDT']);
});

test('a search finds pairs and names', () => {
  expect(pairs({ ...wish, search: ' cosm' })).toEqual(['ATOM/USDT']);
  expect(pairs({ ...wish, search: 'ethbtc' })).toEqual(['ETH/BTC']);
  expect(pairs({ ...wish, quote: 'USDT', favourites: ['ETH/BTC', 'BTC/USDT'] })).toEqual(['BTC/USDT']);
});
