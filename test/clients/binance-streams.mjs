// The streams and the order entry of the package binance, changed in nothing but its addresses
// and its key.

import { WebsocketAPIClient, WebsocketClient } from 'binance';
import { assert, base, call, ed25519, end, grown, hmac, note } from './check.mjs';

const host = base.replace(/^http/, 'ws');
const quiet = { trace() {}, info() {}, error: console.log };

// The package appends the paths to the address.
const ws = new WebsocketClient({ wsUrl: host, beautify: false }, quiet);
const seen = {};
ws.on('message', (m) => {
  const e = m.data ?? m;
  const kind = Array.isArray(e) ? `${e[0].e}@arr` : (e.lastUpdateId ? 'levels' : e.e ?? 'bookTicker');
  seen[kind] = e;
});
ws.on('exception', (e) => console.log('exception', JSON.stringify(e).slice(0, 300)));
ws.subscribe([
  'btcusdt@trade', 'btcusdt@aggTrade', 'btcusdt@depth@100ms', 'btcusdt@depth5', 'btcusdt@kline_1m', 'btcusdt@miniTicker',
  'btcusdt@ticker', 'btcusdt@bookTicker', 'btcusdt@avgPrice', '!miniTicker@arr',
], 'main');
const has = (kind) => call(kind, async () => {
  for (let i = 0; i < 200 && !seen[kind]; i++) await new Promise((done) => { setTimeout(done, 100); });
  return seen[kind];
});
for (const kind of [
  'trade', 'aggTrade', 'depthUpdate', 'levels', 'kline', '24hrMiniTicker', '24hrTicker', 'bookTicker', 'avgPrice', '24hrMiniTicker@arr',
]) await has(kind);
ws.closeAll(true);

for (const [kind, key] of [
  ['hmac', { api_key: hmac.api_key, api_secret: hmac.secret }],
  ['ed25519', { api_key: ed25519.api_key, api_secret: ed25519.pem }],
]) {
  const api = new WebsocketAPIClient({ ...key, wsUrl: host, beautify: false, attachEventListeners: false }, quiet);
  const reports = [];
  api.getWSClient().on('message', (m) => { const e = m.event ?? m; if (e.e === 'executionReport') note(reports, e.x); });
  api.getWSClient().on('exception', (e) => console.log('exception', JSON.stringify(e).slice(0, 300)));
  const ask = (name, fields, check) => call(`${kind}: ${name}`, async () => (await api[name](fields)).result, check);
  await ask('testSpotConnectivity');
  const book = await ask('getSpotOrderBook', { symbol: 'BTCUSDT', limit: 5 }, (b) => assert(b.bids.length === 5, 'five levels'));
  const price = Math.floor(Number(book.bids[0][0]) * 0.8);
  const now = () => ({ timestamp: Date.now() });
  const order = await ask('submitNewSpotOrder', {
    symbol: 'BTCUSDT', side: 'BUY', type: 'LIMIT', timeInForce: 'GTC', price, quantity: 0.01, ...now(),
  }, (o) => assert(o.status === 'NEW', 'it rests'));
  await ask('getSpotOrderStatus', { symbol: 'BTCUSDT', orderId: order.orderId, ...now() }, (o) => assert(o.orderId === order.orderId, 'ours'));
  await ask('cancelSpotOrder', { symbol: 'BTCUSDT', orderId: order.orderId, ...now() }, (o) => assert(o.status === 'CANCELED', 'it is canceled'));
  await ask('getSpotAccountInformation', now(), (a) => assert(a.balances.length > 0, 'there is money'));
  await call(`${kind}: subscribeUserDataStream`, () => api.subscribeUserDataStream('mainWSAPI'));
  await ask('submitNewSpotOrder', { symbol: 'BTCUSDT', side: 'BUY', type: 'MARKET', quantity: 0.001, ...now() }, (o) => assert(o.status === 'FILLED', 'it traded'));
  await call(`${kind}: reports`, async () => (await grown(reports, 2)).join(' '), (r) => assert(r === 'NEW TRADE', `NEW TRADE, and not ${r}`));

  const symbol = 'BTCUSDT';
  const limit = () => ({ symbol, side: 'BUY', type: 'LIMIT', timeInForce: 'GTC', price, quantity: 0.01, ...now() });
  await ask('getSpotServerTime');
  if (kind === 'ed25519') await ask('getSpotSessionStatus', undefined, (s) => assert(s.serverTime > 0, 'a time'));
  await ask('getSpotExchangeInfo', { symbol }, (i) => assert(i.symbols[0].ocoAllowed && i.symbols[0].amendAllowed, 'lists and amendments'));
  await ask('getSpotRecentTrades', { symbol, limit: 2 }, (l) => assert(l.length === 2, 'two'));
  await ask('getSpotHistoricalTrades', { symbol, fromId: 1, limit: 2 }, (l) => assert(l[0].id === 1, 'the first'));
  await ask('getSpotAggregateTrades', { symbol, limit: 2 }, (l) => assert(l.length === 2, 'two'));
  await ask('getSpotKlines', { symbol, interval: '1m', limit: 2 }, (l) => assert(l.length === 2, 'two'));
  await ask('getSpotUIKlines', { symbol, interval: '1m', limit: 2 }, (l) => assert(l.length === 2, 'two'));
  await ask('getSpotAveragePrice', { symbol });
  await ask('getSpot24hrTicker', { symbol });
  await ask('getSpotTradingDayTicker', { symbol });
  await ask('getSpotTicker', { symbol, windowSize: '1h' });
  await ask('getSpotSymbolPriceTicker', { symbol });
  await ask('getSpotSymbolOrderBookTicker', { symbol });
  await ask('testSpotOrder', limit());
  const old = await ask('submitNewSpotOrder', limit());
  const replaced = await ask('cancelReplaceSpotOrder', { ...limit(), cancelReplaceMode: 'STOP_ON_FAILURE', cancelOrderId: old.orderId }, (r) => assert(r.newOrderResult === 'SUCCESS', 'it is replaced'));
  await ask('amendSpotOrderKeepPriority', { symbol, orderId: replaced.newOrderResponse.orderId, newQty: 0.005, ...now() }, (r) => assert(Number(r.amendedOrder.qty) === 0.005, 'less'));
  await ask('getSpotOpenOrders', { symbol, ...now() }, (l) => assert(l.length === 1, 'one'));
  await ask('cancelAllSpotOpenOrders', { symbol, ...now() }, (l) => assert(l.length === 1, 'one'));
  const high = Math.ceil(Number(book.asks[0][0]) * 1.2);
  const list = await ask('placeSpotOCOOrderList', {
    symbol, side: 'SELL', quantity: 0.01, aboveType: 'LIMIT_MAKER', abovePrice: high, belowType: 'STOP_LOSS', belowStopPrice: price, ...now(),
  }, (l) => assert(l.orders.length === 2, 'two orders'));
  await ask('getSpotOrderListStatus', { orderListId: list.orderListId, ...now() }, (l) => assert(l.orders.length === 2, 'two orders'));
  await ask('getSpotOpenOrderLists', now(), (l) => assert(l.length === 1, 'one'));
  await ask('cancelSpotOrderList', { symbol, orderListId: list.orderListId, ...now() }, (l) => assert(l.listOrderStatus === 'ALL_DONE', 'it is done'));
  await ask('getSpotOrderRateLimits', now(), (l) => assert(l.length === 2, 'two windows'));
  await ask('getSpotAllOrders', { symbol, ...now() }, (l) => assert(l.length > 3, 'orders'));
  await ask('getSpotMyTrades', { symbol, ...now() }, (l) => assert(l.length > 0, 'trades'));
  await ask('getSpotAccountCommission', { symbol, ...now() });
  const user = { apiKey: key.api_key };
  const { listenKey } = await ask('startUserDataStreamForKey', user, (k) => assert(k.listenKey.length === 64, 'a listen key'));
  await ask('pingUserDataStreamForKey', { ...user, listenKey });
  await ask('stopUserDataStreamForKey', { ...user, listenKey });
  api.disconnectAll?.();
  api.getWSClient().closeAll(true);
}
end();
