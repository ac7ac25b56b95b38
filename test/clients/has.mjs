// Prints what a stock client has a call for, read from its own source: endpoints, and methods of
// order entry, as the exchange's metrics name them. Arguments: the client, for go-binance its folder.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [client, folder] = process.argv.slice(2);
const read = (...files) => files.map((f) => readFileSync(f, 'utf8')).join('\n');
const all = (text, pattern, name) => [...text.matchAll(pattern)].map((m) => name(m.groups));
const endpoint = ({ method, path }) => `${(method ?? 'GET').toUpperCase()} ${path}`;
const entry = ({ name }) => `WS ${name}`;

// Each package spells its calls in a way of its own.
const calls = {
  async ccxt() {
    const { default: ccxt } = await import('ccxt');
    const table = new ccxt.binance().describe().api;
    const roots = { public: '/api/v3/', private: '/api/v3/', sapi: '/sapi/v1/' };
    const endpoints = Object.entries(roots).flatMap(([part, root]) => Object.entries(table[part]).flatMap(
      ([method, paths]) => Object.keys(paths).map((path) => endpoint({ method, path: root + path })),
    ));
    const text = read('node_modules/ccxt/js/src/pro/binance.js');
    const futures = 'WS depth';
    return [...endpoints, ...all(text, /'method': '(?<name>[^']*)'/g, entry)].filter((name) => name !== futures);
  },
  binance() {
    const text = read('node_modules/binance/lib/main-client.js', 'node_modules/binance/lib/websocket-api-client.js');
    return [
      ...all(text, /this\.(?<method>get|post|put|delete)(?:Private)?\('(?<path>s?api\/[^']*)'/g, ({ method, path }) => endpoint({ method, path: `/${path}` })),
      ...all(text, /mainWSAPI, '(?<name>[^']*)'/g, entry),
    ];
  },
  spot() {
    const text = read('node_modules/@binance/spot/dist/index.js');
    return [
      ...all(text, /endpoint: "(?<path>\/s?api\/[^"]*)",\s*method: "(?<method>\w+)"/g, endpoint),
      ...all(text, /sendMessage\("\/(?<name>[^"]*)"/g, entry),
    ];
  },
  'node-binance-api'() {
    const text = read('node_modules/node-binance-api/dist/cjs/node-binance-api.js');
    return [
      ...all(text, /SpotRequest\('(?<path>v3\/[^']*)'(?:[^;\n]*'(?<method>POST|PUT|DELETE)')?/g, ({ method, path }) => endpoint({ method, path: `/api/${path}` })),
      ...all(text, /Request\(this\.sapi \+ '(?<path>[^']*)'/g, ({ path }) => endpoint({ path: `/sapi/${path}` })),
      // order puts its path together.
      'POST /api/v3/order', 'POST /api/v3/order/test', 'POST /api/v3/orderList/oco',
    ];
  },
  'go-binance'() {
    const files = readdirSync(folder).filter((name) => /(?<!_test)\.go$/.test(name));
    const text = read(...files.map((name) => join(folder, name)));
    return [
      ...all(text, /method:\s+(?:http\.Method|")(?<method>\w+)"?,\s*endpoint:\s+"(?<path>\/s?api\/[^"]*)"/g, endpoint),
      ...all(text, /createOrder\(ctx, "(?<path>\/api\/[^"]*)"/g, ({ path }) => endpoint({ method: 'POST', path })),
      ...all(read(join(folder, 'common/websocket/types.go')), /SpotWsApiMethod WsApiMethodType = "(?<name>[^"]*)"/g, entry),
    ];
  },
};

console.log((await calls[client]()).join('\n'));
