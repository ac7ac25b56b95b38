// The streams and the order entry of the package @binance/spot, changed in nothing but its
// addresses and its key.

import { Spot } from '@binance/spot';
import { assert, base, call, ed25519, end, grown, hmac, note } from './check.mjs';

const host = base.replace(/^http/, 'ws');
const client = (key) => new Spot({
  configurationRestAPI: { ...key, basePath: base },
  configurationWebsocketStreams: { wsURL: host },
  configurationWebsocketAPI: { ...key, wsURL: `${host}/ws-api/v3` },
});
const c = client({ apiKey: hmac.api_key, apiSecret: hmac.secret });
const symbol = 'btcusdt';

// first returns the first message of a stream.
const first = (stream) => new Promise((done, fail) => {
  const patience = setTimeout(() => fail(new Error('no message came')), 20000);
  stream.on('message', (m) => { clearTimeout(patience); done(m); });
});

const streams = await call('connect', () => c.websocketStreams.connect());
const opened = {
  trade: streams.trade({ symbol }), aggTrade: streams.aggTrade({ symbol }), kline: streams.kline({ symbol, interval: '1m' }),
  miniTicker: streams.miniTicker({ symbol }), allMiniTicker: streams.allMiniTicker(), ticker: streams.ticker({ symbol }),
  bookTicker: streams.bookTicker({ symbol }), avgPrice: streams.avgPrice({ symbol }),
  partialBookDepth: streams.partialBookDepth({ symbol, levels: '10', updateSpeed: '100ms' }),
  diffBookDepth: streams.diffBookDepth({ symbol, updateSpeed: '100ms' }),
};
for (const [name, stream] of Object.entries(opened)) {
  await call(name, () => first(stream), (m) => assert(JSON.stringify(m).length > 20, 'a message'));
}
await call('disconnect', async () => { await streams.disconnect(); return true; });

for (const [kind, key, signed] of [
  ['hmac', { apiKey: hmac.api_key, apiSecret: hmac.secret }, c],
  ['ed25519', { apiKey: ed25519.api_key, privateKey: ed25519.pem }, undefined],
]) {
  const one = signed ?? client(key);
  const api = await call(`${kind}: connect`, () => one.websocketAPI.connect());
  const ask = (name, fields, check) => call(`${kind}: ${name}`, async () => (await api[name](fields)).data, check);
  await ask('ping', {});
  await ask('time', {}, (t) => assert(Number(t.serverTime) > 0, 'a time'));
  const book = await ask('depth', { symbol: 'BTCUSDT', limit: 5 }, (b) => assert(b.bids.length === 5, 'five levels'));
  await ask('klines', { symbol: 'BTCUSDT', interval: '1m', limit: 3 }, (l) => assert(l.length === 3, 'three'));
  await ask('tickerPrice', { symbols: ['BTCUSDT', 'ETHUSDT'] }, (l) => assert(l.length === 2, 'two'));
  if (kind === 'ed25519') {
    await call(`${kind}: sessionLogon`, () => api.sessionLogon()); // its answers are those of all connections
    await ask('sessionStatus', {}, (s) => assert(s.apiKey === key.apiKey, 'the session is ours'));
  }
  const reports = [];
  const lists = [];
  const user = await call(`${kind}: user data`, async () => {
    const { response, stream } = kind === 'ed25519'
      ? await api.userDataStreamSubscribe() : await api.userDataStreamSubscribeSignature();
    stream.on('message', (m) => {
      if (m.e === 'executionReport') note(reports, m.x);
      if (m.e === 'listStatus') lists.push(m.l);
    });
    return response;
  });
  const price = Math.floor(Number(book.bids[0][0]) * 0.8);
  const order = await ask('orderPlace', {
    symbol: 'BTCUSDT', side: 'BUY', type: 'LIMIT', timeInForce: 'GTC', price, quantity: 0.01,
  }, (o) => assert(o.status === 'NEW', 'it rests'));
  await ask('orderStatus', { symbol: 'BTCUSDT', orderId: order.orderId }, (o) => assert(o.orderId === order.orderId, 'ours'));
  await ask('openOrdersStatus', { symbol: 'BTCUSDT' }, (l) => assert(l.length === 1, 'one'));
  await ask('orderCancel', { symbol: 'BTCUSDT', orderId: order.orderId }, (o) => assert(o.status === 'CANCELED', 'it is canceled'));
  await ask('orderPlace', { symbol: 'BTCUSDT', side: 'BUY', type: 'MARKET', quantity: 0.001 }, (o) => assert(o.status === 'FILLED', 'it traded'));
  await ask('accountStatus', { omitZeroBalances: true }, (a) => assert(a.balances.length > 0, 'there is money'));
  await ask('accountCommission', { symbol: 'BTCUSDT' });
  await ask('allOrders', { symbol: 'BTCUSDT' }, (l) => assert(l.length > 1, 'orders'));
  await ask('myTrades', { symbol: 'BTCUSDT' }, (l) => assert(l.length > 0, 'trades'));
  await call(`${kind}: reports`, () => grown(reports, 4), (l) => {
    const seen = l.join(' ');
    assert(user && seen === 'NEW CANCELED NEW TRADE', `NEW CANCELED NEW TRADE, and not ${seen}`);
  });

  const pair = { symbol: 'BTCUSDT' };
  const limit = { ...pair, side: 'BUY', type: 'LIMIT', timeInForce: 'GTC', price, quantity: 0.01 };
  await ask('exchangeInfo', pair, (i) => assert(i.symbols[0].ocoAllowed && i.symbols[0].cancelReplaceAllowed, 'lists and replacements'));
  await ask('tradesRecent', { ...pair, limit: 2 }, (l) => assert(l.length === 2, 'two'));
  await ask('tradesHistorical', { ...pair, limit: 2 }, (l) => assert(l.length === 2, 'two'));
  await ask('tradesAggregate', { ...pair, limit: 2 }, (l) => assert(l.length === 2, 'two'));
  await ask('uiKlines', { ...pair, interval: '1m', limit: 2 }, (l) => assert(l.length === 2, 'two'));
  await ask('avgPrice', pair);
  await ask('ticker24hr', pair);
  await ask('tickerTradingDay', pair);
  await ask('ticker', { ...pair, windowSize: '1h' });
  await ask('tickerBook', pair);
  await ask('orderTest', limit);
  const old = await ask('orderPlace', limit);
  const replaced = await ask('orderCancelReplace', { ...limit, cancelReplaceMode: 'STOP_ON_FAILURE', cancelOrderId: old.orderId }, (r) => assert(r.cancelResult === 'SUCCESS' && r.newOrderResult === 'SUCCESS', 'both'));
  const { orderId } = replaced.newOrderResponse;
  await ask('orderAmendKeepPriority', { ...pair, orderId, newQty: 0.005 }, (r) => assert(Number(r.amendedOrder.qty) === 0.005, 'less'));
  await ask('orderAmendments', { ...pair, orderId }, (l) => assert(l.length === 1, 'one'));
  await ask('openOrdersCancelAll', pair, (l) => assert(l.length === 1, 'one'));
  const high = Math.ceil(Number(book.asks[0][0]) * 1.2);
  const list = await ask('orderListPlaceOco', {
    ...pair, side: 'SELL', quantity: 0.01, aboveType: 'LIMIT_MAKER', abovePrice: high,
    belowType: 'STOP_LOSS_LIMIT', belowStopPrice: price, belowPrice: price, belowTimeInForce: 'GTC',
  }, (l) => assert(l.orders.length === 2, 'two orders'));
  await ask('orderListStatus', { orderListId: list.orderListId }, (l) => assert(l.orders.length === 2, 'two orders'));
  await ask('openOrderListsStatus', {}, (l) => assert(l.length === 1, 'one'));
  await ask('orderListCancel', { ...pair, orderListId: list.orderListId }, (l) => assert(l.listOrderStatus === 'ALL_DONE', 'it is done'));
  await ask('accountRateLimitsOrders', {}, (l) => assert(l.length === 2, 'two windows'));
  await call(`${kind}: reports on changes`, async () => (await grown(lists, 2), grown(reports, 13)), (l) => {
    const seen = l.slice(4).join(' ');
    const want = 'NEW CANCELED NEW REPLACED CANCELED NEW NEW CANCELED CANCELED';
    assert(seen === want && lists.join(' ') === 'EXEC_STARTED ALL_DONE', `${want} and a list, and not ${seen}`);
  });
  await ask('sessionSubscriptions', {}, (l) => assert(l.length === 1, 'one'));
  await ask('userDataStreamUnsubscribe', {});
  if (kind === 'ed25519') await call(`${kind}: sessionLogout`, () => api.sessionLogout());
  await call(`${kind}: disconnect`, async () => { await api.disconnect(); return true; });
}
end();
