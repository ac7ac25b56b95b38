import { timeText } from '../app/clock.svelte';
import { visible } from '../app/visible';
import { api } from '../app/session.svelte';
import { wholeSeconds } from '../app/ticks';
import { word, type Key } from '../texts/index.svelte';
import type { Transaction } from '../wallet/wallet.svelte';

export interface Filters {
  pair: string;
  asset: string;
  /** from and to are Unix seconds, null for no bound. */
  from: number | null;
  to: number | null;
}

export interface Cell {
  text: string;
  tone?: 'up' | 'down' | 'dim';
}

export interface Row {
  /** key is the same whenever the row is asked for. */
  key: string;
  cells: Cell[];
  /** mark leads to the rows that follow this one. */
  mark: number;
}

export interface Column {
  title: Key;
  end?: boolean;
}

export interface Page {
  rows: Row[];
  /** next is what asks for the following page, null after the last. */
  next: number | null;
}

/** List is a kind of history. page asks for the rows that follow; begin is what asks for the first. */
export interface List {
  columns: Column[];
  filters: ('pair' | 'asset' | 'time')[];
  page: (filters: Filters, from: number, signal: AbortSignal) => Promise<Page>;
}

interface Order {
  obid: number;
  pair: string;
  time: string;
  side: 'BUY' | 'SELL';
  type: string;
  status: string;
  price?: string;
  stop?: string;
  amount?: string;
  total?: string;
  filled?: string;
  /** prevented is what self-trade prevention took; absent if that is nothing. */
  prevented?: string;
  base: string;
  quote: string;
}

interface Trade {
  trade_id: number;
  obid: number;
  time: string;
  pair: string;
  side: 'BUY' | 'SELL';
  price: string;
  amount: string;
  total: string;
  fee: string;
  role: string;
}

interface Entry {
  seq: number;
  time: number;
  asset: string;
  delta: string;
  balance: string;
  kind: string;
}

/** SIZE is V1's rows in a page. */
const SIZE = 50;

const plain = (text: string): Cell => ({ text });

function sided(side: 'BUY' | 'SELL'): Cell {
  return { text: `${side === 'BUY' ? '▲' : '▼'} ${word('side', side)}`, tone: side === 'BUY' ? 'up' : 'down' };
}

function bounds({ pair, from, to }: Filters): Record<string, unknown> {
  return {
    ...(pair === '' ? {} : { filter_pair: pair }),
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
  };
}

const orders: List = {
  columns: [
    { title: 'history.time' },
    { title: 'history.market' },
    { title: 'history.side' },
    { title: 'history.type' },
    { title: 'history.price', end: true },
    { title: 'history.amount', end: true },
    { title: 'history.filled', end: true },
    { title: 'history.prevented', end: true },
    { title: 'history.status' },
  ],
  filters: ['pair', 'time'],
  page: async (filters, after, signal) => {
    const body = { offset: 0, ...bounds(filters), ...(after === 0 ? {} : { after }) };
    const { orders: list } = await api.post<{ orders: Order[] }>('/spot/orders_history', body, { signal });
    const rows = list.map((one) => ({
      key: String(one.obid),
      mark: one.obid,
      cells: [
        plain(timeText(wholeSeconds(one.time))),
        plain(one.pair),
        sided(one.side),
        plain(word('orderType', one.type)),
        plain(one.price ?? (one.stop === undefined ? '—' : `⇢ ${one.stop}`)),
        plain(one.amount === undefined ? `${one.total ?? '—'} ${one.quote}` : `${one.amount} ${one.base}`),
        plain(one.filled ?? '0'),
        plain(one.prevented ?? '0'),
        { text: word('orderStatus', one.status), ...(one.status === 'FILLED' ? {} : { tone: 'dim' as const }) },
      ],
    }));
    return { rows, next: list.length < SIZE ? null : (rows.at(-1)?.mark ?? null) };
  },
};

const trades: List = {
  columns: [
    { title: 'history.time' },
    { title: 'history.market' },
    { title: 'history.side' },
    { title: 'history.price', end: true },
    { title: 'history.amount', end: true },
    { title: 'history.total', end: true },
    { title: 'history.fee', end: true },
    { title: 'history.role' },
  ],
  filters: ['pair', 'time'],
  page: async (filters, offset, signal) => {
    const body = { offset, ...bounds(filters) };
    const { trades: list } = await api.post<{ trades: Trade[] }>('/spot/trades_history', body, { signal });
    const rows = list.map((one) => {
      const [base = '', quote = ''] = one.pair.split('/');
      return {
        key: `${one.pair} ${one.trade_id} ${one.obid}`,
        mark: one.trade_id,
        cells: [
          plain(timeText(wholeSeconds(one.time))),
          plain(one.pair),
          sided(one.side),
          plain(one.price),
          plain(`${one.amount} ${base}`),
          plain(`${one.total} ${quote}`),
          plain(`${one.fee} ${one.side === 'BUY' ? base : quote}`),
          plain(word('role', one.role)),
        ],
      };
    });
    return { rows, next: list.length < SIZE ? null : offset + list.length };
  },
};

const transfers: List = {
  columns: [
    { title: 'history.time' },
    { title: 'history.kind' },
    { title: 'history.network' },
    { title: 'history.amount', end: true },
    { title: 'history.fee', end: true },
    { title: 'history.status' },
    { title: 'wallet.address' },
    { title: 'transfers.txid' },
  ],
  filters: ['asset'],
  page: async ({ asset }, offset, signal) => {
    const query = { limit: '100', offset: String(offset), ...(asset === '' ? {} : { asset }) };
    const answer = await api.get<{ transactions: Transaction[]; more: boolean }>('/wallet/v2/io/transactions', query, signal);
    const rows = answer.transactions.map((one) => ({
      key: String(one.xid),
      mark: one.xid,
      cells: [
        plain(timeText(one.createTime)),
        plain(word('transferType', one.type)),
        plain(one.network?.symbol ?? '—'),
        plain(`${one.amount} ${one.asset.symbol}`),
        plain(one.fee ?? '—'),
        { text: word('transferStatus', one.status), ...(one.status === 'DONE' ? {} : { tone: 'dim' as const }) },
        plain(visible(one.address ?? '—')),
        plain(visible(one.txid ?? '—')),
      ],
    }));
    return { rows, next: answer.more ? offset + rows.length : null };
  },
};

const ledger: List = {
  columns: [
    { title: 'history.time' },
    { title: 'wallet.asset' },
    { title: 'history.kind' },
    { title: 'history.change', end: true },
    { title: 'history.balance', end: true },
  ],
  filters: ['asset', 'time'],
  page: async ({ asset, from, to }, cursor, signal) => {
    const answer = await api.get<{ entries: Entry[]; cursor: number | null }>(
      '/wallet/v2/ledger',
      {
        limit: '100',
        ...(asset === '' ? {} : { asset }),
        ...(from === null ? {} : { from: String(from) }),
        ...(to === null ? {} : { to: String(to) }),
        ...(cursor === 0 ? {} : { cursor: String(cursor) }),
      },
      signal,
    );
    const rows = answer.entries.map((one, at) => ({
      key: `${cursor} ${at} ${one.seq}`,
      mark: one.seq,
      cells: [
        plain(timeText(one.time)),
        plain(one.asset),
        plain(word('ledgerKind', one.kind)),
        { text: one.delta, tone: one.delta.startsWith('-') ? ('down' as const) : ('up' as const) },
        plain(one.balance),
      ],
    }));
    return { rows, next: answer.cursor };
  },
};

export const lists = { orders, trades, transfers, ledger };
export type Kind = keyof typeof lists;
export const kinds = Object.keys(lists) as Kind[];
