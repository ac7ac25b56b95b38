// The package @binance/spot, changed in nothing but its address and its key.

import { Spot } from '@binance/spot';
import { assert, base, call, ed25519, end, hmac, refused } from './check.mjs';

const client = (key) => new Spot({ configurationRestAPI: { ...key, basePath: base } }).restAPI;
const c = client({ apiKey: hmac.api_key, apiSecret: hmac.secret });
const symbol = 'BTCUSDT';
const ask = (name, fields, check) => call(name, async () => (await c[name](fields)).data(), check);

await ask('ping');
await ask('time', undefined, (t) => assert(Number(t.serverTime) > 0, 'a time'));
await ask('exchangeInfo', { symbols: [symbol, 'ETHUSDT'] }, (i) => assert(i.symbols.length === 2, 'two markets'));
const book = await ask('depth', { symbol, limit: 5 }, (b) => assert(b.bids.length === 5, 'five levels'));
await ask('getTrades', { symbol, limit: 5 }, (l) => assert(l.length === 5, 'five'));
await ask('historicalTrades', { symbol, limit: 5 }, (l) => assert(l.length === 5, 'five'));
await ask('aggTrades', { symbol, limit: 5 }, (l) => assert(l.length === 5, 'five'));
await ask('klines', { symbol, interval: '1m', limit: 5 }, (l) => assert(l.length === 5, 'five'));
await ask('uiKlines', { symbol, interval: '4h', limit: 2 }, (l) => assert(l.length === 2, 'two'));
await ask('avgPrice', { symbol });
await ask('ticker24hr', { symbol, type: 'MINI' });
await ask('tickerTradingDay', { symbols: [symbol] });
await ask('tickerPrice', { symbols: [symbol, 'ETHUSDT'] });
await ask('tickerBookTicker', { symbol });
await ask('ticker', { symbol, windowSize: '2h' });

const price = Math.floor(Number(book.bids[0][0]) * 0.8);
const limit = { symbol, side: 'BUY', type: 'LIMIT', timeInForce: 'GTC', quantity: 0.01, price };
await ask('orderTest', { ...limit, computeCommissionRates: true }, (r) => assert(r.standardCommissionForOrder, 'rates'));
const o = await ask('newOrder', limit, (r) => assert(r.status === 'NEW', 'it is open'));
await ask('getOrder', { symbol, orderId: o.orderId }, (r) => assert(r.status === 'NEW', 'it is open'));
await ask('getOpenOrders', { symbol }, (l) => assert(l.length === 1, 'one'));
await ask('deleteOrder', { symbol, orderId: o.orderId }, (r) => assert(r.status === 'CANCELED', 'it is canceled'));
const old = await ask('newOrder', limit);
const next = await ask('orderCancelReplace', { ...limit, cancelReplaceMode: 'STOP_ON_FAILURE', cancelOrderId: old.orderId }, (r) => assert(r.cancelResult === 'SUCCESS' && r.newOrderResult === 'SUCCESS', 'both'));
await ask('orderAmendKeepPriority', { symbol, orderId: next.newOrderResponse.orderId, newQty: 0.005 }, (r) => assert(Number(r.amendedOrder.qty) === 0.005, 'less'));
await ask('orderAmendments', { symbol, orderId: next.newOrderResponse.orderId }, (l) => assert(l.length === 1, 'one'));
await ask('deleteOpenOrders', { symbol }, (l) => assert(l.length === 1, 'one'));
await ask('newOrder', { ...limit, type: 'LIMIT_MAKER', timeInForce: undefined });
await ask('deleteOpenOrders', { symbol }, (l) => assert(l.length === 1, 'one'));
await ask('newOrder', { symbol, side: 'SELL', type: 'MARKET', quantity: 0.002 }, (r) => assert(r.fills.length > 0, 'it traded'));
const high = Math.ceil(Number(book.asks[0][0]) * 1.2);
const list = await ask('orderListOco', {
  symbol, side: 'SELL', quantity: 0.01, aboveType: 'LIMIT_MAKER', abovePrice: high,
  belowType: 'STOP_LOSS_LIMIT', belowStopPrice: price, belowPrice: price, belowTimeInForce: 'GTC',
}, (r) => assert(r.orders.length === 2 && r.listOrderStatus === 'EXECUTING', 'two orders'));
await ask('getOrderList', { orderListId: list.orderListId }, (r) => assert(r.orders.length === 2, 'two orders'));
await ask('openOrderList', {}, (l) => assert(l.length === 1, 'one'));
await ask('deleteOrderList', { symbol, orderListId: list.orderListId }, (r) => assert(r.orderReports.every((o) => o.status === 'CANCELED'), 'both are canceled'));
await ask('allOrders', { symbol, limit: 3 }, (l) => assert(l.length === 3, 'three'));
await ask('myTrades', { symbol, limit: 1 }, (l) => assert(l.length === 1, 'one'));
await ask('getAccount', {}, (a) => assert(a.balances.length > 2, 'all assets'));
await ask('accountCommission', { symbol });
await ask('rateLimitOrder', {}, (l) => assert(l.length === 2, 'two windows'));
await refused('an order that costs too little', 'NOTIONAL', () => c.newOrder({ ...limit, quantity: 0.000001 }));
await refused('what is not served', -1020, () => c.myAllocations({ symbol }));

const other = client({ apiKey: ed25519.api_key, privateKey: ed25519.pem });
await call('getAccount with an Ed25519 key', async () => (await other.getAccount({})).data());
await call('newOrder with an Ed25519 key', async () => (await other.newOrder(limit)).data());
await call('deleteOpenOrders with an Ed25519 key', async () => (await other.deleteOpenOrders({ symbol })).data());

end();
