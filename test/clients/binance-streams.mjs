// The streams and the order entry of the package binance, changed in nothing but its addresses
// and its key.

import { WebsocketAPIClient, WebsocketClient } from 'binance';
import { assert, base, call, ed25519, end, hmac } from './check.mjs';

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
  api.getWSClient().on('message', (m) => { const e = m.event ?? m; if (e.e === 'executionReport') reports.push(e.x); });
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
  await call(`${kind}: reports`, () => new Promise((done) => { setTimeout(() => done(reports.join(' ')), 500); }), (r) => assert(r === 'NEW TRADE', `NEW TRADE, and not ${r}`));
  api.disconnectAll?.();
  api.getWSClient().closeAll(true);
}
end();
