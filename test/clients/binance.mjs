// The package binance, changed in nothing but its address and its key.

import { MainClient } from 'binance';
import { assert, base, call, ed25519, end, hmac, refused } from './check.mjs';

const client = (key) => new MainClient({ ...key, baseUrl: base, beautifyResponses: false });
const c = client({ api_key: hmac.api_key, api_secret: hmac.secret });
const symbol = 'BTCUSDT';

await call('testConnectivity', () => c.testConnectivity());
await call('getExchangeInfo', () => c.getExchangeInfo(), (i) => assert(i.symbols.length > 2, 'markets'));
const book = await call('getOrderBook', () => c.getOrderBook({ symbol, limit: 5 }), (b) => assert(b.bids.length === 5, 'five levels'));
await call('getRecentTrades', () => c.getRecentTrades({ symbol, limit: 5 }), (l) => assert(l.length === 5, 'five'));
await call('getHistoricalTrades', () => c.getHistoricalTrades({ symbol, fromId: 1, limit: 5 }), (l) => assert(l[0].id === 1, 'the first'));
await call('getAggregateTrades', () => c.getAggregateTrades({ symbol, limit: 5 }), (l) => assert(l.length === 5, 'five'));
await call('getKlines', () => c.getKlines({ symbol, interval: '1h', limit: 3 }), (l) => assert(l.length === 3, 'three'));
await call('getUIKlines', () => c.getUIKlines({ symbol, interval: '1d', limit: 3, timeZone: '8' }), (l) => assert(l.length >= 1, 'some'));
await call('getAvgPrice', () => c.getAvgPrice({ symbol }), (p) => assert(Number(p.price) > 0, 'a price'));
await call('get24hrChangeStatistics', () => c.get24hrChangeStatistics({ symbol }), (t) => assert(t.symbol === symbol, 'ours'));
await call('getTradingDayTicker', () => c.getTradingDayTicker({ symbol }), (t) => assert(t.symbol === symbol, 'ours'));
await call('getSymbolPriceTicker', () => c.getSymbolPriceTicker(), (l) => assert(l.length > 2, 'all'));
await call('getSymbolOrderBookTicker', () => c.getSymbolOrderBookTicker({ symbol }), (t) => assert(Number(t.bidPrice) > 0, 'a bid'));
await call('getRollingWindowTicker', () => c.getRollingWindowTicker({ symbol, windowSize: '7d' }), (t) => assert(t.count > 0, 'trades'));

const price = String(Math.floor(Number(book.bids[0][0]) * 0.8));
// The client writes a newClientOrderId into the request: each gets one of its own.
const limit = () => ({ symbol, side: 'BUY', type: 'LIMIT', timeInForce: 'GTC', quantity: 0.01, price });
await call('testNewOrder', () => c.testNewOrder(limit()));
const o = await call('submitNewOrder', () => c.submitNewOrder(limit()), (r) => assert(r.status === 'NEW', 'it is open'));
await call('getOrder', () => c.getOrder({ symbol, orderId: o.orderId }), (r) => assert(r.clientOrderId === o.clientOrderId, 'ours'));
await call('getOpenOrders', () => c.getOpenOrders({ symbol }), (l) => assert(l.length === 1, 'one'));
await call('cancelOrder', () => c.cancelOrder({ symbol, orderId: o.orderId }), (r) => assert(r.status === 'CANCELED', 'it is canceled'));
await call('submitNewOrder by total', () => c.submitNewOrder({ symbol, side: 'BUY', type: 'MARKET', quoteOrderQty: 50 }), (r) => assert(r.fills.length > 0, 'it traded'));
await call('submitNewOrder again', () => c.submitNewOrder(limit()));
await call('cancelAllSymbolOrders', () => c.cancelAllSymbolOrders({ symbol }), (l) => assert(l.length === 1, 'one'));
const old = await call('submitNewOrder, to replace', () => c.submitNewOrder(limit()));
const next = await call('replaceOrder', () => c.replaceOrder({ ...limit(), cancelReplaceMode: 'ALLOW_FAILURE', cancelOrderId: old.orderId }), (r) => assert(r.cancelResult === 'SUCCESS' && r.newOrderResult === 'SUCCESS', 'both'));
await refused('a replacement of what is gone', -2022, () => c.replaceOrder({ ...limit(), cancelReplaceMode: 'STOP_ON_FAILURE', cancelOrderId: old.orderId }));
await call('cancelOrder, the new one', () => c.cancelOrder({ symbol, orderId: next.newOrderResponse.orderId }));
const high = String(Math.ceil(Number(book.asks[0][0]) * 1.2));
const list = await call('submitNewOrderList', () => c.submitNewOrderList({
  symbol, side: 'SELL', quantity: 0.01, aboveType: 'TAKE_PROFIT_LIMIT', aboveStopPrice: high, abovePrice: high, aboveTimeInForce: 'GTC',
  belowType: 'STOP_LOSS', belowStopPrice: price,
}), (l) => assert(l.orders.length === 2 && l.listOrderStatus === 'EXECUTING', 'two orders'));
await call('getOCO', () => c.getOCO({ orderListId: list.orderListId }), (l) => assert(l.orders.length === 2, 'two orders'));
await call('getAllOpenOCO', () => c.getAllOpenOCO(), (l) => assert(l.length === 1, 'one'));
await call('cancelOCO', () => c.cancelOCO({ symbol, orderListId: list.orderListId }), (l) => assert(l.listOrderStatus === 'ALL_DONE', 'it is done'));
await call('getAllOrders', () => c.getAllOrders({ symbol, orderId: o.orderId, limit: 1 }), (l) => assert(l[0].orderId === o.orderId, 'the first'));
await call('getAccountTradeList', () => c.getAccountTradeList({ symbol }), (l) => assert(l.length >= 1, 'ours'));
await call('getAccountInformation', () => c.getAccountInformation({ omitZeroBalances: true }), (a) => assert(a.balances.length === 2, 'two assets'));
await call('getOrderRateLimit', () => c.getOrderRateLimit(), (l) => assert(l.length === 2, 'two windows'));
await call('getCommissionRates', () => c.getCommissionRates({ symbol }), (r) => assert(r.standardCommission, 'rates'));
await refused('an unknown order', -2013, () => c.getOrder({ symbol, orderId: 1 }));

await call('getSystemStatus', () => c.getSystemStatus(), (s) => assert(s.status === 0, 'it works'));
await call('getBalances', () => c.getBalances(), (l) => assert(l.some((b) => b.coin === 'BTC'), 'coins'));
await call('getDepositAddress', () => c.getDepositAddress({ coin: 'BTC' }), (a) => assert(a.address, 'an address'));
await call('getDepositHistory', () => c.getDepositHistory({ coin: 'BTC' }), (l) => assert(Array.isArray(l), 'a list'));
const asked = { coin: 'BTC', address: process.env.BOURSE_ADDRESS, amount: 0.01, withdrawOrderId: 'binance-1' };
const first = await call('withdraw', () => c.withdraw(asked), (r) => assert(r.id, 'an id'));
await call('withdraw again', () => c.withdraw(asked), (r) => assert(r.id === first.id, 'the first answer'));
await call('getWithdrawHistory', () => c.getWithdrawHistory({ coin: 'BTC' }), (l) => assert(l.some((w) => w.id === first.id), 'ours'));
await call('getTradeFee', () => c.getTradeFee({ symbol }), (l) => assert(l.length === 1, 'one'));
await call('getApiKeyPermissions', () => c.getApiKeyPermissions(), (p) => assert(p.enableReading, 'it may read'));

const { listenKey } = await call('getSpotUserDataListenKey', () => c.getSpotUserDataListenKey(), (k) => assert(k.listenKey.length === 64, 'a key')) ?? {};
await call('keepAliveSpotUserDataListenKey', () => c.keepAliveSpotUserDataListenKey(listenKey));
await call('closeSpotUserDataListenKey', () => c.closeSpotUserDataListenKey(listenKey));

const other = client({ api_key: ed25519.api_key, api_secret: ed25519.pem });
await call('getAccountInformation with an Ed25519 key', () => other.getAccountInformation());
await call('submitNewOrder with an Ed25519 key', () => other.submitNewOrder(limit()));
await call('cancelAllSymbolOrders with an Ed25519 key', () => other.cancelAllSymbolOrders({ symbol }));

end();
