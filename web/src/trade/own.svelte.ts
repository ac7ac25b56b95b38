// The account's own data: open orders, balances and fills, live.

import { OpenOrders, wholeSeconds, type OpenOrder, type OrderEvent } from '../../client/orders';
import { api, session } from '../app/session.svelte';
import { follow } from '../feed/feed';
import type { Fees } from '../feed/markets';

export interface Balance {
  total: string;
  locked: string;
  avbl: string;
}

/** Fill is a message of myTrades. */
export interface Fill {
  trade_id: number;
  obid: number;
  pair: string;
  time: number;
  price: string;
  amount: string;
  total: string;
  fee: string;
  side: 'BUY' | 'SELL';
  role: 'MAKER' | 'TAKER';
}

/** FILLS bounds the fills that the page keeps for the chart. */
const FILLS = 200;

class Own {
  /** orders are the open orders, the newest first; known is false until they were told once. */
  orders: OpenOrder[] = $state.raw([]);
  known = $state(false);
  balances: Record<string, Balance> = $state.raw({});
  fills: Fill[] = $state.raw([]);
  /** event is the last event of an order. */
  event: OrderEvent | null = $state.raw(null);
  /** ended counts events that change the lists of the past. */
  ended = $state(0);
}

export const own = new Own();

const open = new OpenOrders();

/** followOwn keeps own while somebody is logged in, until the returned function is called. */
export function followOwn(): () => void {
  forgetOwn();
  if (!session.now) return forgetOwn;
  const ends = [
    follow('myOrders', (message) => {
      own.known = true;
      if (message === null) return;
      const event = open.apply(message);
      own.orders = open.list();
      if (event === null) return;
      own.event = event;
      own.ended++;
    }),
    follow('myTrades', (message) => {
      if (message === null) return;
      own.fills = message.class === 'reset' ? fillsOf(message.state) : [message as unknown as Fill, ...own.fills].slice(0, FILLS);
      own.ended++;
    }),
    follow('myBalances', (message) => {
      if (message === null) return;
      if (message.class === 'reset') {
        own.balances = (message.state as { balances: Record<string, Balance> }).balances;
        return;
      }
      const { asset, total, locked, avbl } = message as unknown as Balance & { asset: string };
      own.balances = { ...own.balances, [asset]: { total, locked, avbl } };
    }),
  ];
  void loadBalances();
  return () => ends.forEach((end) => end());
}

/** fillsOf reads the newest fills, whose times are those of an answer. */
function fillsOf(state: unknown): Fill[] {
  const { trades } = state as { trades: (Omit<Fill, 'time'> & { time: string })[] };
  return trades.map((fill) => ({ ...fill, time: wholeSeconds(fill.time) }));
}

function forgetOwn(): void {
  open.clear();
  own.orders = [];
  own.known = false;
  own.balances = {};
  own.fills = [];
  own.event = null;
}

/** loadBalances asks for the balances; what the stream told meanwhile is newer, and stays. */
async function loadBalances(): Promise<void> {
  try {
    const all = await api.post<{ balances: Record<string, Balance> }>('/wallet/balances', { offset: 0 });
    own.balances = { ...all.balances, ...own.balances };
  } catch {
    return; // the stream tells of each balance that changes, and a panel of its own asks again
  }
}

/** feesOf asks for the account's rates in a market. */
export async function feesOf(pair: string): Promise<Fees> {
  return api.post<Fees>('/spot/user_fees', { pair });
}
