// The streams and the order entry of ccxt, changed in nothing but its addresses, its key and the
// options that restrict it to spot.

import ccxt from 'ccxt';
import { assert, base, call, end, hmac } from './check.mjs';

const e = new ccxt.pro.binance({
  apiKey: hmac.api_key, secret: hmac.secret,
  options: { defaultType: 'spot', fetchMarkets: { types: ['spot'] }, fetchMargins: false },
});
for (const [name, url] of Object.entries(e.urls.api)) {
  if (typeof url === 'string') e.urls.api[name] = url.replace(/^https:\/\/[^/]+/, base);
}
const streams = base.replace(/^http/, 'ws');
e.urls.api.ws.spot = `${streams}/ws`;
e.urls.api.ws['ws-api'].spot = `${streams}/ws-api/v3`;

const pair = 'BTC/USDT';
await e.loadHttpProxyAgent(); // ccxt asks for it before addresses without TLS
await e.loadMarkets();

const book = await call('watchOrderBook', () => e.watchOrderBook(pair), (b) => {
  assert(b.bids[0][0] < b.asks[0][0] && b.nonce > 0, 'the book is not crossed');
});
await call('watchOrderBook, ten updates', async () => {
  let b;
  for (let i = 0; i < 10; i++) b = await e.watchOrderBook(pair);
  return b;
}, (b) => assert(b.bids[0][0] < b.asks[0][0], 'the book is not crossed'));

// Once nothing changes between two answers, the book that ccxt keeps is that of the endpoint.
await call('the kept book is the endpoint\'s', async () => {
  for (let i = 0; i < 100; i++) {
    const kept = await e.watchOrderBook(pair);
    const [nonce, bids, asks] = [kept.nonce, kept.bids.slice(0, 20).map(String), kept.asks.slice(0, 20).map(String)];
    const rest = await e.fetchOrderBook(pair, 20);
    if (rest.nonce !== nonce) continue;
    return { kept: [bids, asks], rest: [rest.bids.map(String), rest.asks.map(String)] };
  }
  throw new Error('no two answers of one update');
}, ({ kept, rest }) => assert(JSON.stringify(kept) === JSON.stringify(rest), 'they are equal'));

await call('watchTrades', () => e.watchTrades(pair), (t) => assert(t[0].price > 0 && t[0].id, 'it has a price'));
await call('watchTicker', () => e.watchTicker(pair), (t) => assert(t.last > 0 && t.high >= t.low, 'it has prices'));
await call('watchTickers', () => e.watchTickers([pair, 'ETH/USDT']), (t) => assert(Object.keys(t).length > 0, 'tickers'));
await call('watchBidsAsks', () => e.watchBidsAsks([pair]), (t) => assert(t[pair].bid > 0 && t[pair].bid < t[pair].ask, 'best levels'));
await call('watchOHLCV', () => e.watchOHLCV(pair, '1m'), (k) => assert(k[0][3] <= k[0][2], 'a candle'));
await call('watchOrderBookForSymbols', () => e.watchOrderBookForSymbols([pair, 'ETH/USDT']), (b) => assert(b.bids.length > 0, 'a book'));
await call('watchTradesForSymbols', () => e.watchTradesForSymbols([pair, 'ETH/USDT']), (t) => assert(t.length > 0, 'trades'));
await call('fetchOHLCVWs', () => e.fetchOHLCVWs(pair, '1m', undefined, 3), (k) => assert(k.length > 0, 'candles'));
const listen = await call('publicPostUserDataStream', () => e.publicPostUserDataStream(), (k) => assert(k.listenKey.length === 64, 'a listen key'));
await call('publicPutUserDataStream', () => e.publicPutUserDataStream(listen));
await call('publicDeleteUserDataStream', () => e.publicDeleteUserDataStream(listen));
await call('fetchTradesWs', () => e.fetchTradesWs(pair, undefined, 5), (t) => assert(t.length === 5, 'five'));

// Balances and orders come to one connection that was opened with a signature.
const far = Math.floor(book.bids[0][0] * 0.8);
await e.authenticate();
const balance = e.watchBalance();
const orders = e.watchOrders(pair);
const order = await call('createOrderWs', () => e.createOrderWs(pair, 'limit', 'buy', 0.01, far), (o) => assert(o.id, 'it has an id'));
await call('watchOrders', () => orders, (l) => assert(l[0].id === order.id && l[0].status === 'open', 'it is open'));
await call('watchBalance', () => balance, (b) => assert(b.USDT.used > 0, 'money is held'));
await call('fetchOrderWs', () => e.fetchOrderWs(order.id, pair), (o) => assert(o.price === far, 'it is ours'));
await call('fetchOpenOrdersWs', () => e.fetchOpenOrdersWs(pair), (l) => assert(l.some((o) => o.id === order.id), 'it is there'));
const moved = e.watchOrders(pair);
const next = await call('editOrderWs', () => e.editOrderWs(order.id, pair, 'limit', 'buy', 0.01, far - 1), (o) => assert(o.price === far - 1, 'it moved'));
await moved;
// ended returns an order once a report says that it was canceled; the amendment's come before.
async function ended(id) {
  for (;;) {
    const order = (await e.watchOrders(pair)).find((o) => o.id === id);
    if (order?.status === 'canceled') return order;
  }
}
const canceled = ended(next.id);
await call('cancelOrderWs', () => e.cancelOrderWs(next.id, pair), (o) => assert(o.status === 'canceled', 'it is canceled'));
await call('watchOrders, canceled', () => canceled, (o) => assert(o.remaining === 0.01, 'nothing of it was filled'));
const trades = e.watchMyTrades(pair);
await call('createOrderWs market', () => e.createOrderWs(pair, 'market', 'buy', 0.01), (o) => assert(o.filled === 0.01, 'it traded'));
await call('watchMyTrades', () => trades, (l) => assert(l[0].amount > 0 && l[0].fee.cost > 0, 'it has a fee'));
await call('fetchBalanceWs', () => e.fetchBalanceWs(), (b) => assert(b.info.balances.length > 0, 'there is money'));
await call('fetchMyTradesWs', () => e.fetchMyTradesWs(pair), (l) => assert(l.length > 0, 'trades'));
await call('fetchOrdersWs', () => e.fetchOrdersWs(pair), (l) => assert(l.length > 1, 'orders'));
await call('createOrderWs test', () => e.createOrderWs(pair, 'limit', 'buy', 0.01, far, { test: true }));
await call('createOrderWs, to cancel', () => e.createOrderWs(pair, 'limit', 'buy', 0.01, far));
await call('cancelAllOrdersWs', () => e.cancelAllOrdersWs(pair), (l) => assert(l.length === 1, 'one'));
await e.close();
end();
