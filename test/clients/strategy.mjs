// A strategy in the manner of ccxt's examples, for BOURSE_STRATEGY_FOR seconds: it quotes both sides,
// moves its quotes with the market, and trades at the market when two averages cross. Its
// WebSocket connections are cut every 10 seconds. What it counts of its fills is its balances at
// the end, to the last digit, and the book that ccxt keeps is the endpoint's after each cut.

import net from 'node:net';
import ccxt from 'ccxt';
import { assert, base, call, end, hmac } from './check.mjs';

const lasting = Number(process.env.BOURSE_STRATEGY_FOR ?? 60) * 1000;
const cutEvery = 10000;
const pair = 'BTC/USDT';

// All WebSocket connections go through a proxy that can cut them.
const sockets = new Set();
const target = new URL(base);
const proxy = net.createServer((from) => {
  const to = net.connect(target.port, target.hostname);
  for (const [a, b] of [[from, to], [to, from]]) {
    sockets.add(a);
    a.pipe(b);
    a.on('error', () => {});
    a.on('close', () => { sockets.delete(a); b.destroy(); });
  }
});
await new Promise((done) => { proxy.listen(0, '127.0.0.1', done); });
let cuts = 0;
const cut = () => { cuts++; sockets.forEach((s) => s.destroy()); };

const e = new ccxt.pro.binance({
  apiKey: hmac.api_key, secret: hmac.secret,
  options: { defaultType: 'spot', fetchMarkets: { types: ['spot'] }, fetchMargins: false },
});
for (const [name, url] of Object.entries(e.urls.api)) {
  if (typeof url === 'string') e.urls.api[name] = url.replace(/^https:\/\/[^/]+/, base);
}
const streams = `ws://127.0.0.1:${proxy.address().port}`;
e.urls.api.ws.spot = `${streams}/ws`;
e.urls.api.ws['ws-api'].spot = `${streams}/ws-api/v3`;
await e.loadHttpProxyAgent(); // ccxt asks for it before addresses without TLS
await e.loadMarkets();

// units returns a decimal as an integer of 10^-18.
function units(text) {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(text);
  const n = BigInt(whole + fraction.padEnd(18, '0'));
  return sign ? -n : n;
}

// balances returns what there is of both assets, held amounts included.
async function balances() {
  const { balances: list } = await e.privateGetAccount();
  return Object.fromEntries(['BTC', 'USDT'].map((asset) => {
    const b = list.find((one) => one.asset === asset);
    return [asset, units(b.free) + units(b.locked)];
  }));
}

// The strategy's own account of its fills, by trade and order. Streams and the endpoint tell the same.
const fills = new Map();
let streamed = 0;
function fill(t) {
  const i = t.info;
  const f = i.x === 'TRADE'
    ? { buys: i.S === 'BUY', lots: units(i.l), value: units(i.Y), fee: units(i.n), asset: i.N }
    : { buys: i.isBuyer === true, lots: units(i.qty), value: units(i.quoteQty), fee: units(i.commission), asset: i.commissionAsset };
  const key = `${t.id} ${t.order}`;
  const known = fills.get(key);
  const same = !known || Object.keys(f).every((name) => f[name] === known[name]);
  assert(same, `fill ${key} is told as it was`);
  if (i.x === 'TRADE' && !known) streamed++;
  fills.set(key, f);
}
function position() {
  const sum = { BTC: 0n, USDT: 0n };
  for (const f of fills.values()) {
    sum.BTC += f.buys ? f.lots : -f.lots;
    sum.USDT += f.buys ? -f.value : f.value;
    sum[f.asset] -= f.fee;
  }
  return sum;
}

// missed reads the fills from the last one on that the strategy knows.
let last = 1;
async function missed() {
  for (;;) {
    const list = await e.fetchMyTrades(pair, undefined, 500, { fromId: last });
    list.forEach(fill);
    last = Math.max(last, ...list.map((t) => Number(t.id)));
    if (list.length < 500) return;
  }
}

// ccxt throws out of a timer, past every caller, if a connection is cut before it sends; the call is
// then without an answer for good.
process.on('uncaughtException', (error) => {
  if (/WebSocket is not open/.test(error.message)) return;
  console.log(error);
  process.exit(1);
});
const answered = (promise, within) => Promise.race([promise, e.sleep(within).then(() => {
  throw new ccxt.RequestTimeout('no answer came');
})]);

let running = true;
// following repeats a call of a stream until the end; a cut connection is opened anew by the next one.
async function following(watch, take) {
  while (running) {
    try {
      take(await answered(watch(), 5000));
    } catch (error) {
      if (!(error instanceof ccxt.NetworkError)) throw error;
      await e.sleep(50);
    }
  }
}

// once sends a request with a name over WebSocket, and again over HTTP if the connection was cut
// before the answer: it has its effect once.
let names = 0;
let repeats = 0;
let due = false; // a cut
async function once(overSocket, overHTTP) {
  const params = { newClientOrderId: `strategy-${++names}` };
  try {
    const answer = overSocket(params);
    if (due) setTimeout(cut, Math.random() * 4); // while it is on its way
    due = false;
    return await answered(answer, 3000);
  } catch (error) {
    if (!(error instanceof ccxt.NetworkError)) throw error;
    repeats++;
    return overHTTP(params);
  }
}
const place = (type, side, price) => once(
  (p) => e.createOrderWs(pair, type, side, 0.002, price, p), (p) => e.createOrder(pair, type, side, 0.002, price, p),
);

// move lets a quote follow the market. One that is gone is placed anew.
async function move(quote, side, price) {
  if (quote && quote.price === price) return quote;
  if (quote) {
    try {
      return await once(
        (p) => e.editOrderWs(quote.id, pair, 'limit', side, 0.002, price, p),
        (p) => e.editOrder(quote.id, pair, 'limit', side, 0.002, price, p),
      );
    } catch (error) {
      if (!(error instanceof ccxt.ExchangeError)) throw error; // it was filled, or would take
    }
  }
  try {
    return await place('limit', side, price);
  } catch (error) {
    if (!(error instanceof ccxt.ExchangeError)) throw error;
    return undefined;
  }
}

const average = (list) => list.reduce((a, b) => a + b, 0) / list.length;
let orders = 0;
async function trade() {
  const stop = Date.now() + lasting;
  const prices = [];
  let [bid, ask, long] = [undefined, undefined, false];
  for (let next = Date.now() + cutEvery; Date.now() < stop;) {
    if (Date.now() > next) {
      next += cutEvery;
      due = true;
    }
    const book = await e.fetchOrderBook(pair, 5);
    prices.push((book.bids[0][0] + book.asks[0][0]) / 2);
    bid = await move(bid, 'buy', book.bids[0][0]);
    ask = await move(ask, 'sell', book.asks[0][0]);
    const rising = average(prices.slice(-5)) > average(prices.slice(-20));
    if (rising !== long) {
      long = rising;
      await place('market', rising ? 'buy' : 'sell');
      orders++;
    }
    await e.sleep(100);
  }
}

// sameBook compares the book that ccxt keeps with the endpoint's, of one update.
let books = 0;
async function sameBook(kept) {
  const [nonce, mine] = [kept.nonce, JSON.stringify([kept.bids.slice(0, 20), kept.asks.slice(0, 20)])];
  const rest = await e.fetchOrderBook(pair, 20);
  if (rest.nonce !== nonce) return;
  assert(JSON.stringify([rest.bids, rest.asks]) === mine, `the book of update ${nonce} is the endpoint's`);
  books++;
}

await e.cancelAllOrders(pair).catch(() => {}); // none is there
const before = await balances();
await call('the strategy', async () => {
  const watched = [
    following(() => e.watchMyTrades(pair), (l) => l.forEach(fill)),
    following(async () => { await sameBook(await e.watchOrderBook(pair)); }, () => {}),
  ];
  try {
    await trade();
  } finally {
    running = false;
  }
  await e.cancelAllOrders(pair).catch(() => {}); // all may be filled
  await missed();
  await Promise.race([Promise.allSettled(watched), e.sleep(2000)]);
  return fills.size;
}, (n) => assert(n > 5 && orders > 1 && streamed > n / 2, `it traded: ${n} fills, ${streamed} by streams, ${orders} crossings`));

const after = await balances();
const own = position();
await call('positions', async () => [after.BTC - before.BTC, after.USDT - before.USDT], ([btc, usdt]) => {
  assert(btc === own.BTC && usdt === own.USDT, `${btc} BTC and ${usdt} USDT, and not ${own.BTC} and ${own.USDT}`);
});
await call('no order is left', () => e.fetchOpenOrders(pair), (l) => assert(l.length === 0, 'none'));
await call('books across cuts', async () => books, () => assert(books > 0 && cuts > 0, `${books} books, ${cuts} cuts`));
console.log(`      ${fills.size} fills, ${streamed} by streams, ${orders} crossings, ${names} requests of which ${repeats} were repeated, ${books} books, ${cuts} cuts`);
end();
