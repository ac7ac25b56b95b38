import { follow } from '../feed/feed';
import type { Resource } from '../app/resource.svelte';
import { api, session } from '../app/session.svelte';
import type { Priced } from './worth';

export interface Asset {
  symbol: string;
  name: string;
  defaultPrec: number;
}

export interface Balance extends Asset {
  total: string;
  locked: string;
  avbl: string;
}

export interface Network {
  symbol: string;
  name: string;
  memoName: string | null;
}

export interface Transaction {
  xid: number;
  type: 'DEPOSIT' | 'WITHDRAWAL' | 'TRANSFER_IN' | 'TRANSFER_OUT';
  amount: string;
  status: string;
  createTime: number;
  address: string | null;
  memo: string | null;
  confirmations: number | null;
  confirmTarget: number | null;
  txid: string | null;
  fee: string | null;
  delayed: boolean;
  asset: Asset;
  network: Network | null;
}

/** open are the statuses of transactions that will change. */
export const open = ['PENDING', 'PROCESSING', 'CONFIRM_PENDING', 'CANCEL_PENDING'];

/** balances asks for what the account has, of every asset. */
export async function balances(signal: AbortSignal): Promise<Balance[]> {
  const answer = await api.get<{ balances: Balance[] }>('/wallet/v2/balances', { limit: '500' }, signal);
  return answer.balances;
}

/** assets asks for every asset that is listed. */
export async function assets(signal: AbortSignal): Promise<Asset[]> {
  const answer = await api.get<{ assets: Asset[] }>('/wallet/v2/assets', { limit: '500' }, signal);
  return answer.assets;
}

/** networks asks for the networks that carry an asset. */
export async function networks(asset: string, signal: AbortSignal): Promise<Network[]> {
  const answer = await api.get<{ networks: Network[] }>('/wallet/v2/io/networks', { asset, limit: '500' }, signal);
  return answer.networks;
}

/** prices asks for the last price of every market. */
export async function prices(signal: AbortSignal): Promise<Priced[]> {
  const all: Priced[] = [];
  for (;;) {
    const answer = await api.post<{ markets: Priced[] }>('/spot/markets', { offset: all.length }, { signal });
    all.push(...answer.markets);
    if (answer.markets.length < 50) return all;
  }
}

/** transactions asks for the newest of a type, of one asset or of all. */
export async function transactions(type: string, asset: string, signal: AbortSignal): Promise<Transaction[]> {
  const query = { type, limit: '50', ...(asset === '' ? {} : { asset }) };
  const answer = await api.get<{ transactions: Transaction[] }>('/wallet/v2/io/transactions', query, signal);
  return answer.transactions;
}

/** refreshed loads resources again when one of the account's streams tells of a change, at most every half second. */
export function refreshed(streams: readonly string[], resources: readonly Resource<unknown>[]): void {
  $effect(() => {
    if (!session.now) return;

    let due: ReturnType<typeof setTimeout> | null = null;
    const reload = (): void => {
      due ??= setTimeout(() => {
        due = null;
        for (const resource of resources) void resource.load();
      }, 500);
    };
    const ends = streams.map((stream) => follow(stream, reload));
    return () => {
      if (due !== null) clearTimeout(due);
      for (const end of ends) end();
    };
  });
}
