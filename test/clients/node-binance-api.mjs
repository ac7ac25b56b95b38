// The package node-binance-api, changed in nothing but its addresses and its key. Its calls for
// deposits, past withdrawals and the permissions of a key ask below /api in place of /sapi,
// where there is nothing.

import Binance from 'node-binance-api';
import { assert, base, call, end, hmac, refused } from './check.mjs';

const Client = Binance.default ?? Binance;
const b = new Client().options({
  APIKEY: hmac.api_key, APISECRET: hmac.secret, urls: { base: `${base}/api/`, sapi: `${base}/sapi/` },
});
const symbol = 'BTCUSDT';

await call('ping', () => b.ping());
await call('time', () => b.time(), (t) => assert(t.serverTime > 0, 'a time'));
await call('exchangeInfo', () => b.exchangeInfo(), (i) => assert(i.symbols.length > 2, 'markets'));
await call('prices', () => b.prices(), (p) => assert(Number(p[symbol]) > 0, 'a price'));
await call('bookTickers', () => b.bookTickers(symbol));
const book = await call('depth', () => b.depth(symbol, 5), (d) => assert(d.bids.length === 5, 'five levels'));
await call('prevDay', () => b.prevDay(symbol));
await call('avgPrice', () => b.avgPrice(symbol));
await call('candles', () => b.candles(symbol, '1h', { limit: 3 }), (l) => assert(l.length === 3, 'three'));
await call('aggTrades', () => b.aggTrades(symbol, { limit: 3 }), (l) => assert(l.length === 3, 'three'));
await call('recentTrades', () => b.recentTrades(symbol, 3), (l) => assert(l.length === 3, 'three'));
await call('historicalTrades', () => b.historicalTrades(symbol, 3), (l) => assert(l.length === 3, 'three'));

const price = Math.floor(Number(book.bids[0].price) * 0.8);
const o = await call('buy', () => b.order('LIMIT', 'BUY', symbol, 0.01, price), (r) => assert(r.status === 'NEW', 'it is open'));
await call('orderStatus', () => b.orderStatus(symbol, o.orderId), (r) => assert(r.orderId === o.orderId, 'ours'));
await call('openOrders', () => b.openOrders(symbol), (l) => assert(l.length === 1, 'one'));
await call('cancel', () => b.cancel(symbol, o.orderId), (r) => assert(r.status === 'CANCELED', 'it is canceled'));
await call('marketBuy', () => b.marketBuy(symbol, 0.001), (r) => assert(r.fills.length > 0, 'it traded'));
await call('limit again', () => b.order('LIMIT', 'BUY', symbol, 0.01, price));
await call('cancelAll', () => b.cancelAll(symbol), (l) => assert(l.length === 1, 'one'));
await call('order test', () => b.order('LIMIT', 'BUY', symbol, 0.01, price, { test: true }));
const list = await call('ocoOrder', () => b.ocoOrder('SELL', symbol, 0.01, {
  aboveType: 'LIMIT_MAKER', abovePrice: price * 2, belowType: 'STOP_LOSS', belowStopPrice: price,
}), (l) => assert(l.orders.length === 2 && l.listOrderStatus === 'EXECUTING', 'two orders'));
await call('cancelAll with a list', () => b.cancelAll(symbol), (l) => assert(l.length === 2 && l.every((o) => o.orderListId === list.orderListId), 'both'));
await call('allOrders', () => b.allOrders(symbol), (l) => assert(l.length >= 3, 'ours'));
await call('trades', () => b.myTrades(symbol), (l) => assert(l.length >= 1, 'ours'));
await call('balance', () => b.balance(), (r) => assert(Number(r.USDT.available) > 0, 'there is money'));
await call('account', () => b.account());
await call('systemStatus', () => b.systemStatus());
await call('tradeFee', () => b.tradeFee());
await call('withdraw', () => b.withdraw('BTC', process.env.BOURSE_ADDRESS, 0.01));
await refused('an unknown order', -2013, () => b.orderStatus(symbol, 1));

end();
