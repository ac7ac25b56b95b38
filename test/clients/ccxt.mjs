// ccxt, changed in nothing but its addresses, its key and the options that restrict it to spot.

import ccxt from 'ccxt';
import { assert, base, call, ed25519, end, hmac, refused } from './check.mjs';

function exchange(key) {
  const e = new ccxt.binance({
    ...key, options: { defaultType: 'spot', fetchMarkets: { types: ['spot'] }, fetchMargins: false },
  });
  for (const [name, url] of Object.entries(e.urls.api)) {
    if (typeof url === 'string') e.urls.api[name] = url.replace(/^https:\/\/[^/]+/, base);
  }
  return e;
}

const pair = 'BTC/USDT';
const e = exchange({ apiKey: hmac.api_key, secret: hmac.secret });
const last = (list) => list[list.length - 1];
const rises = (list, by) => list.every((r, i) => i === 0 || by(list[i - 1]) <= by(r));

await call('loadMarkets', () => e.loadMarkets(), (m) => {
  assert(m[pair].active && m[pair].spot, 'the market is active');
  assert(m[pair].precision.price > 0 && m[pair].limits.cost.min > 0, 'it has terms');
});
await call('fetchTime', () => e.fetchTime(), (t) => assert(Math.abs(t - Date.now()) < 5000, 'the time is ours'));
await call('fetchStatus', () => e.fetchStatus(), (s) => assert(s.status === 'ok', 'it works'));
await call('fetchCurrencies', () => e.fetchCurrencies(), (c) => assert(c.BTC.networks, 'assets have networks'));
const book = await call('fetchOrderBook', () => e.fetchOrderBook(pair, 20), (b) => {
  assert(b.bids[0][0] < b.asks[0][0], 'the book is not crossed');
});
await call('fetchTicker', () => e.fetchTicker(pair), (t) => assert(t.last > 0 && t.high >= t.low, 'it has prices'));
await call('fetchTickers', () => e.fetchTickers([pair, 'ETH/USDT']), (t) => assert(t[pair] && t['ETH/USDT'], 'both'));
await call('fetchTickers, all', () => e.fetchTickers(), (t) => assert(Object.keys(t).length > 2, 'all'));
await call('publicGetTicker', () => e.publicGetTicker({ symbol: 'BTCUSDT', windowSize: '3d' }));
await call('publicGetTickerTradingDay', () => e.publicGetTickerTradingDay({ symbol: 'BTCUSDT' }));
await call('fetchBidsAsks', () => e.fetchBidsAsks([pair]), (t) => assert(t[pair].bid > 0, 'it has a bid'));
await call('fetchLastPrices', () => e.fetchLastPrices([pair]), (t) => assert(t[pair].price > 0, 'it has a price'));
await call('fetchTrades', () => e.fetchTrades(pair, undefined, 10), (t) => {
  assert(t.length === 10 && rises(t, (r) => Number(r.id)), 'ten trades, oldest first');
});
await call('fetchTrades since', () => e.fetchTrades(pair, Date.now() - 3600e3, 5), (t) => assert(rises(t, (r) => r.timestamp), 'oldest first'));
await call('publicGetTrades', () => e.publicGetTrades({ symbol: 'BTCUSDT', limit: 5 }), (t) => assert(t.length === 5, 'five'));
await call('publicGetHistoricalTrades', () => e.publicGetHistoricalTrades({ symbol: 'BTCUSDT', limit: 5 }), (t) => assert(t.length === 5, 'five'));
for (const frame of ['1m', '5m', '1h', '8h', '1d', '3d', '1w', '1M']) {
  await call(`fetchOHLCV ${frame}`, () => e.fetchOHLCV(pair, frame, undefined, 3), (k) => {
    assert(k.length >= 1 && k.length <= 3 && k.every((r) => r[3] <= r[1] && r[1] <= r[2]), 'candles');
  });
}
await call('fetchOHLCV since', () => e.fetchOHLCV(pair, '1h', Date.now() - 5 * 3600e3, 3), (k) => assert(k.length === 3, 'the oldest three'));
await call('publicGetUiKlines', () => e.publicGetUiKlines({ symbol: 'BTCUSDT', interval: '1h' }));
await call('publicGetAvgPrice', () => e.publicGetAvgPrice({ symbol: 'BTCUSDT' }));
await call('publicGetPing', () => e.publicGetPing());
await refused('an unknown symbol', -1121, () => e.publicGetDepth({ symbol: 'NONE' }));

await call('fetchBalance', () => e.fetchBalance(), (b) => assert(b.USDT.free > 0, 'there is money'));
const far = Math.floor(book.bids[0][0] * 0.8);
const resting = await call('createOrder limit', () => e.createOrder(pair, 'limit', 'buy', 0.01, far), (o) => assert(o.status === 'open', 'it is open'));
await call('fetchOrder', () => e.fetchOrder(resting.id, pair), (o) => assert(o.price === far && o.remaining === 0.01, 'it is ours'));
await call('fetchOrder by name', () => e.fetchOrder(undefined, pair, { origClientOrderId: resting.clientOrderId }), (o) => assert(o.id === resting.id, 'the same'));
await call('fetchOpenOrders', () => e.fetchOpenOrders(pair), (l) => assert(last(l).id === resting.id, 'it is there'));
const moved = await call('editOrder', () => e.editOrder(resting.id, pair, 'limit', 'buy', 0.01, far - 1), (o) => assert(o.price === far - 1, 'it moved'));
await call('cancelOrder', () => e.cancelOrder(moved.id, pair), (o) => assert(o.status === 'canceled', 'it is canceled'));
await refused('a second cancel', -2011, () => e.cancelOrder(moved.id, pair));

const filled = await call('createOrder market', () => e.createOrder(pair, 'market', 'buy', 0.02), (o) => {
  assert(o.filled === 0.02 && o.trades.length > 0 && o.cost > 0, 'it traded');
  assert(o.trades.every((t) => t.fee.cost > 0), 'trades have fees');
});
await call('createMarketBuyOrderWithCost', () => e.createMarketBuyOrderWithCost(pair, 100), (o) => assert(o.cost <= 100 && o.cost > 90, 'it spent that much'));
await call('createOrder IOC', () => e.createOrder(pair, 'limit', 'sell', 0.001, far, { timeInForce: 'IOC' }), (o) => assert(o.filled > 0, 'it traded'));
await call('createOrder post-only', () => e.createOrder(pair, 'limit', 'buy', 0.01, far, { postOnly: true }));
await refused('a post-only order that takes', 'would immediately match', () => e.createOrder(pair, 'limit', 'sell', 0.01, far, { postOnly: true }));
await call('createOrder stop', () => e.createOrder(pair, 'limit', 'sell', 0.01, far, { stopLossPrice: far }), (o) => assert(o.id, 'it is taken'));
await call('createOrder stop at the market', () => e.createOrder(pair, 'market', 'sell', 0.01, undefined, { stopLossPrice: far }), (o) => assert(o.id, 'it is taken'));
await call('createOrder take profit', () => e.createOrder(pair, 'market', 'sell', 0.01, undefined, { takeProfitPrice: far * 2 }), (o) => assert(o.id, 'it is taken'));
await call('cancelAllOrders', () => e.cancelAllOrders(pair), (l) => assert(l.length === 4, 'all'));
await refused('too much', 'insufficient balance', () => e.createOrder(pair, 'limit', 'buy', 1000, far));
await call('createOrder test', () => e.createOrder(pair, 'limit', 'buy', 0.01, far, { test: true }));

const legs = {
  symbol: 'BTCUSDT', side: 'SELL', quantity: 0.01, aboveType: 'LIMIT_MAKER', abovePrice: far * 2,
  belowType: 'STOP_LOSS_LIMIT', belowStopPrice: far, belowPrice: far, belowTimeInForce: 'GTC',
};
const list = await call('privatePostOrderListOco', () => e.privatePostOrderListOco(legs), (l) => assert(l.listOrderStatus === 'EXECUTING', 'it is open'));
await call('privateGetOrderList', () => e.privateGetOrderList({ orderListId: list.orderListId }), (l) => assert(l.orders.length === 2, 'two orders'));
await call('privateGetOpenOrderList', () => e.privateGetOpenOrderList(), (l) => assert(l.length === 1, 'one'));
await call('fetchOpenOrders with a list', () => e.fetchOpenOrders(pair), (l) => assert(l.length === 2, 'both orders'));
await call('privateDeleteOrderList', () => e.privateDeleteOrderList({ symbol: 'BTCUSDT', orderListId: list.orderListId }), (l) => assert(l.listOrderStatus === 'ALL_DONE', 'it is done'));

await call('fetchOrders', () => e.fetchOrders(pair), (l) => assert(rises(l, (o) => Number(o.id)) && l.length >= 6, 'oldest first'));
await call('fetchOrders since', () => e.fetchOrders(pair, Date.now() - 3600e3, 2), (l) => assert(l[0].id === resting.id, 'the oldest'));
await call('fetchClosedOrders', () => e.fetchClosedOrders(pair), (l) => assert(l.some((o) => o.id === filled.id), 'the filled one'));
await call('fetchMyTrades', () => e.fetchMyTrades(pair), (l) => assert(l.length >= 3, 'our trades'));
await call('fetchMyTrades since', () => e.fetchMyTrades(pair, Date.now() - 3600e3, 1), (l) => assert(l[0].order === filled.id, 'the oldest'));
await call('fetchOrderTrades', () => e.fetchOrderTrades(filled.id, pair), (l) => assert(l.length === filled.trades.length, 'those of the order'));
await call('fetchTradingFee', () => e.fetchTradingFee(pair), (f) => assert(f.maker >= 0, 'a rate'));
await call('fetchTradingFees', () => e.fetchTradingFees(), (f) => assert(f[pair], 'a rate'));
await call('privateGetAccountCommission', () => e.privateGetAccountCommission({ symbol: 'BTCUSDT' }));
await call('privateGetRateLimitOrder', () => e.privateGetRateLimitOrder(), (l) => assert(Number(l[1].count) > 0, 'our orders'));

const home = await call('fetchDepositAddress', () => e.fetchDepositAddress('BTC'), (a) => assert(a.address, 'an address'));
await call('withdraw', () => e.withdraw('BTC', 0.01, process.env.BOURSE_ADDRESS), (w) => assert(w.id, 'an id'));
await call('fetchWithdrawals', () => e.fetchWithdrawals('BTC'), (l) => assert(l.length >= 1 && l[0].fee, 'ours'));
await call('fetchDeposits', () => e.fetchDeposits('BTC'), (l) => assert(Array.isArray(l), 'a list'));
await call('fetchDepositWithdrawFees', () => e.fetchDepositWithdrawFees(['BTC']), (f) => assert(f.BTC, 'fees'));
await call('sapiGetAccountApiRestrictions', () => e.sapiGetAccountApiRestrictions(), (r) => assert(r.enableWithdrawals, 'it may withdraw'));
await refused('a bad address', -4033, () => e.withdraw('BTC', 0.01, home.address + 'x'));

const other = exchange({ apiKey: ed25519.api_key, secret: ed25519.pem });
await call('fetchBalance with an Ed25519 key', () => other.fetchBalance(), (b) => assert(b.USDT.free > 0, 'there is money'));
await call('createOrder with an Ed25519 key', () => other.createOrder(pair, 'limit', 'buy', 0.01, far));
await call('cancelAllOrders with an Ed25519 key', () => other.cancelAllOrders(pair));
const wrong = exchange({ apiKey: hmac.api_key, secret: 'wrong' });
await refused('a wrong secret', -1022, () => wrong.fetchBalance());

end();
