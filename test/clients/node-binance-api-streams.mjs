// The streams and the order entry of the package node-binance-api, changed in nothing but its
// addresses and its key.

import Binance from 'node-binance-api';
import { assert, base, call, end, grown, hmac } from './check.mjs';

const Client = Binance.default ?? Binance;
const host = base.replace(/^http/, 'ws');
const b = new Client().options({
  APIKEY: hmac.api_key, APISECRET: hmac.secret,
  urls: {
    base: `${base}/api/`, sapi: `${base}/sapi/`, stream: `${host}/ws/`, combineStream: `${host}/stream?streams=`,
  },
});
b.wsApi = `${host}/ws-api/v3`; // the address that has no option
const symbol = 'BTCUSDT';

// once returns the first message of a stream.
const once = (open) => new Promise((done, fail) => {
  setTimeout(() => fail(new Error('no message came')), 20000);
  open(done);
});

await call('trades', () => once((m) => b.websockets.trades([symbol, 'ETHUSDT'], m)), (t) => assert(Number(t.p) > 0, 'a price'));
await call('aggTrades', () => once((m) => b.websockets.aggTrades([symbol], m)), (t) => assert(t.a > 0, 'a number'));
await call('depth', () => once((m) => b.websockets.depth([symbol], m)), (d) => assert(d.U <= d.u, 'an update'));
await call('depthCache', () => once((m) => b.websockets.depthCache([symbol], (s, d) => {
  const bid = Number(Object.keys(d.bids).sort((x, y) => y - x)[0]);
  const ask = Number(Object.keys(d.asks).sort((x, y) => x - y)[0]);
  if (bid > 0 && ask > 0) m([bid, ask]);
})), ([bid, ask]) => assert(bid < ask, 'the book is not crossed'));
await call('candlesticks', () => once((m) => b.websockets.candlesticks([symbol], '1m', m)), (k) => assert(k.k.i === '1m', 'a candle'));
await call('bookTickers', () => once((m) => b.websockets.bookTickers(symbol, m)), (t) => assert(Number(t.bestBid) > 0, 'a bid'));
await call('prevDay', () => once((m) => b.websockets.prevDay(symbol, (e, t) => m(t ?? e))), (t) => assert(Number(t.close ?? t.c) > 0, 'a price'));
await call('miniTicker', () => once((m) => b.websockets.miniTicker(m)), (t) => assert(Object.keys(t).length > 0, 'tickers'));

const reports = [];
await call('userData', () => once((subscribed) => b.websockets.userData((m) => {
  if (m.e === 'executionReport') reports.push(m.x);
}, undefined, undefined, subscribed)));
const price = Math.floor(Number((await b.prices(symbol))[symbol]) * 0.8);
const order = await call('buy', () => b.buy(symbol, 0.01, price), (o) => assert(o.orderId, 'an order'));
await call('cancel', () => b.cancel(symbol, order.orderId), (o) => assert(o.status === 'CANCELED', 'it is canceled'));
await call('reports', async () => (await grown(reports, 2)).join(' '), (r) => assert(r === 'NEW CANCELED', `NEW CANCELED, and not ${r}`));
end();
