import type { Message } from '../../client/stream';
import { place } from '../app/router.svelte';
import { web } from '../app/session.svelte';
import { notify } from '../app/toasts.svelte';
import { follow } from '../feed/feed';
import { t } from '../texts/index.svelte';
import type { Fill } from '../trade/own.svelte';
import { loadWishes, wishes, type Kind } from './wishes.svelte';
import { isBefore, ofFills, ofMove, type Moved, type Said } from './words';

/** PAUSE gathers fills, in milliseconds, so that an order that walks a book is one notice. */
const PAUSE = 1_000;

/**
 * tellNews shows what happens to the account's money as notices, until the returned function is called. A stream may
 * begin with messages that the page before this one has told: what happened before the call, by the exchange's clock, is
 * no news.
 */
export function tellNews(): () => void {
  const began = Math.floor((Date.now() + web.ahead) / 1_000);
  let fills: Fill[] = [];
  let due: ReturnType<typeof setTimeout> | null = null;
  const tellFills = (): void => {
    due = null;
    ofFills(fills).forEach(say);
    fills = [];
  };

  void loadWishes().catch(() => undefined); // without an answer there is no news
  const ends = [
    follow('myTrades', (message) => {
      if (!isNews(message, 'FILLS')) return;
      const fill = message as unknown as Fill;
      if (fill.time < began || isSeen(fill)) return;
      fills.push(fill);
      due ??= setTimeout(tellFills, PAUSE);
    }),
    follow('myTransfers', (message) => {
      if (message === null || message.class !== 'data') return;
      const moved = message as unknown as Moved;
      if (!isNews(message, moved.type === 'WITHDRAWAL' ? 'WITHDRAWALS' : 'DEPOSITS') || isBefore(moved, began)) return;
      const said = ofMove(moved);
      if (said) say(said);
    }),
  ];
  return () => {
    wishes.now = null;
    if (due !== null) clearTimeout(due);
    for (const end of ends) end();
  };
}

/** isNews tells what happens from the state that begins a stream, and from what the account does not want to see. */
function isNews(message: Message | null, kind: Kind): message is Message {
  return message !== null && message.class === 'data' && (wishes.now?.page.includes(kind) ?? false);
}

/** isSeen tells fills that the order form answers with: those of orders that take, on the trading page. */
function isSeen(fill: Fill): boolean {
  return fill.role === 'TAKER' && place.path.startsWith('/trade');
}

function say({ key, values }: Said): void {
  notify(t(key, values), 'good');
}
