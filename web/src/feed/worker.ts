// The feed worker: it owns the socket and the book, and posts at most one frame in 50 ms, less than the screen's own.

import { Book, snapshotOf, type BookMessage } from '../../client/book';
import type { estimate, Level } from '../../client/estimate';
import { Stream, type Message } from '../../client/stream';
import { Looker } from './look';
import type { CandleRow, Command, Frame, Sketch, Watched } from './protocol';
import { Tape, type TapeMessage } from './tape';

/** The least times between two frames with a book, trades, a candle or an estimate, in ms. */
const EVERY = { book: 50, tape: 100, candles: 250, estimate: 150 };
const TICK = 50;

type Part = keyof typeof EVERY;

const scope = globalThis as unknown as {
  postMessage: (frame: Frame) => void;
  onmessage: ((event: MessageEvent<Command>) => void) | null;
};

let url = '';
let stream: Stream | null = null;
const followed = new Set<string>();
let market: Watched | null = null;
let book: Book | null = null;
const looker = new Looker();
let sketch: Sketch | null = null;
/** estimating estimates orders; its code comes with the first one. */
let estimating: typeof estimate | null = null;

let tape = new Tape();
let candles: CandleRow[] = [];
let messages: Message[] = [];
const due = new Set<Part>();
const sent: Record<Part, number> = { book: 0, tape: 0, candles: 0, estimate: 0 };
let timer: ReturnType<typeof setTimeout> | null = null;

function connect(): void {
  stream?.close();
  stream = new Stream({
    url,
    onState: (state) => {
      if (state === 'offline') book?.clear();
      scope.postMessage({ state });
    },
    onReady: (name) => {
      if (followed.has(name)) scope.postMessage({ ready: [name] });
    },
    onEnded: (reason) => scope.postMessage({ ended: reason }),
  });
  for (const name of followed) follow(name);
  if (market) subscribe(market);
}

function follow(name: string): void {
  stream?.subscribe(name, (message) => {
    messages.push(message);
    wake();
  });
}

function names(of: Watched): { book: string; tape: string; candles: string } {
  return { book: `${of.pair}@book`, tape: `${of.pair}@tape`, candles: `${of.pair}@candle/${of.resolution}` };
}

function watch(next: Watched | null): void {
  if (market) Object.values(names(market)).forEach((name) => stream?.unsubscribe(name));
  market = next;
  book = null;
  candles = [];
  tape = new Tape();
  due.clear();
  if (market) subscribe(market);
}

function subscribe(to: Watched): void {
  const { book: ofBook, tape: ofTape } = names(to);
  book = new Book(to.basePrecision, to.quotePrecision);
  stream?.subscribe(ofBook, (message) => {
    const change = message.class === 'reset' ? snapshotOf(message.state, message.seq ?? 0) : message;
    if (book?.apply(change as BookMessage) === false) stream?.again(ofBook);
    note('book');
    if (sketch) note('estimate');
  });
  stream?.subscribe(ofTape, (message) => {
    tape.take(message as unknown as TapeMessage);
    note('tape');
  });
  subscribeCandles(to);
}

function subscribeCandles(to: Watched): void {
  stream?.subscribe(names(to).candles, (message) => {
    const { time, open, high, low, close, volume } = message as unknown as CandleRow;
    const candle = { time, open, high, low, close, volume };
    if (candles[candles.length - 1]?.time === candle.time) candles.pop();
    candles.push(candle);
    note('candles');
  });
}

function note(part: Part): void {
  due.add(part);
  wake();
}

function wake(): void {
  timer ??= setTimeout(flush, TICK);
}

/** flush posts what is due, and looks again later for what is not yet. */
function flush(): void {
  timer = null;
  const now = performance.now();
  const frame: Frame = market ? { pair: market.pair } : {};
  if (messages.length > 0) {
    frame.messages = messages;
    messages = [];
  }
  for (const part of [...due]) {
    if (now - sent[part] < EVERY[part]) continue;
    due.delete(part);
    sent[part] = now;
    add(frame, part);
  }
  scope.postMessage(frame);
  if (due.size > 0) wake();
}

function add(frame: Frame, part: Part): void {
  switch (part) {
    case 'book':
      frame.book = book && book.seq >= 0 ? looker.view(book) : null;
      break;
    case 'tape':
      frame.tape = tape.drain();
      break;
    case 'candles':
      frame.candles = candles;
      candles = [];
      break;
    case 'estimate':
      if (sketch && estimating) frame.estimate = { number: sketch.number, estimate: compute(sketch, estimating) };
  }
}

function compute({ terms, draft, funds }: Sketch, by: typeof estimate): ReturnType<typeof estimate> {
  const levels = draft.side === 'BUY' ? book?.asks : book?.bids;
  return by(terms, draft, (levels ?? []).map(({ price, lots }): Level => [price, lots]), funds);
}

/** prepare asks for an estimate once its code has come. Without the code the next change of the order asks again. */
async function prepare(): Promise<void> {
  try {
    estimating ??= (await import('../../client/estimate')).estimate;
    note('estimate');
  } catch {
    return;
  }
}

scope.onmessage = ({ data: command }) => {
  switch (command.do) {
    case 'connect':
      url = command.url;
      connect();
      break;
    case 'reconnect':
      connect();
      break;
    case 'wake':
      stream?.connect();
      break;
    case 'follow':
      if (followed.has(command.stream)) return;
      followed.add(command.stream);
      follow(command.stream);
      break;
    case 'unfollow':
      followed.delete(command.stream);
      stream?.unsubscribe(command.stream);
      break;
    case 'watch':
      watch(command.market);
      break;
    case 'resolution':
      if (!market) return;
      stream?.unsubscribe(names(market).candles);
      market = { ...market, resolution: command.resolution };
      candles = [];
      subscribeCandles(market);
      break;
    case 'look':
      looker.look(command.lens);
      if (book) note('book');
      break;
    case 'sketch':
      sketch = command.sketch;
      if (sketch) void prepare();
  }
};
