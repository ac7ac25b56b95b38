// The page's side of the feed: one worker for all pages, started when the first stream is asked for.

import type { Draft, Terms } from '../../client/estimate';
import type { Message } from '../../client/stream';
import { connection } from '../app/connection.svelte';
import { loadSession } from '../app/session.svelte';
import type { CandleRow, Command, Frame, Lens, TapeRow, Watched } from './protocol';
import { TAPE } from './tape';
import { view } from './view.svelte';
import address from './worker.ts?worker&url';

/** Listener takes the messages of a stream, and null when it is subscribed. */
type Listener = (message: Message | null) => void;

const listeners = new Map<string, Set<Listener>>();
let onCandles: ((rows: CandleRow[]) => void) | null = null;
let onGap: (() => void) | null = null;
let worker: Worker | null = null;
let sketched = 0;

interface Policy {
  createScriptURL: (url: string) => string;
}

/** start starts the worker. Its URL passes a Trusted Types policy that knows no other. */
function start(): Worker {
  const types = (globalThis as unknown as { trustedTypes?: { createPolicy: (name: string, of: Policy) => Policy } })
    .trustedTypes;
  const policy = types?.createPolicy('bourse', {
    createScriptURL: (asked) => {
      if (asked !== address) throw new TypeError('This is not the feed worker');
      return asked;
    },
  });

  const started = new Worker(policy?.createScriptURL(address) ?? address, { type: 'module' });
  started.onmessage = ({ data }: MessageEvent<Frame>) => take(data);
  worker = started;
  tell({ do: 'connect', url: `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}/web/stream` });
  addEventListener('online', () => tell({ do: 'wake' }));
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) tell({ do: 'wake' });
  });
  return started;
}

function tell(command: Command): void {
  (worker ?? start()).postMessage(command);
}

function take(frame: Frame): void {
  if (frame.state) connection.state = frame.state;
  if (frame.ended !== undefined) void loadSession().then(reconnect);
  for (const name of frame.ready ?? []) listeners.get(name)?.forEach((listener) => listener(null));
  for (const message of frame.messages ?? []) {
    listeners.get(message.stream ?? '')?.forEach((listener) => listener(message));
  }
  if (frame.pair !== undefined && frame.pair === view.pair) takeMarket(frame);
}

function takeMarket(frame: Frame): void {
  if (frame.book !== undefined) view.book = frame.book;
  if (frame.tape) {
    merge(frame.tape.rows);
    if (frame.tape.gap) onGap?.();
  }
  if (frame.candles) onCandles?.(frame.candles);
  if (frame.estimate?.number === sketched) view.estimate = frame.estimate.estimate;
}

/** merge adds trades to the tape, from the feed or from a list, each once. */
export function merge(rows: readonly TapeRow[]): void {
  const all = new Map([...view.tape, ...rows].map((row) => [row.id, row]));
  view.tape = [...all.values()].sort((a, b) => b.id - a.id).slice(0, TAPE);
  view.last = view.tape[0] ?? null;
}

/** follow listens to a stream of events until the returned function is called. */
export function follow(stream: string, listener: Listener): () => void {
  const known = listeners.get(stream);
  const set = known ?? new Set<Listener>();
  set.add(listener);
  listeners.set(stream, set);
  if (!known) tell({ do: 'follow', stream });
  return () => {
    set.delete(listener);
    if (set.size > 0 || listeners.get(stream) !== set) return;
    listeners.delete(stream);
    tell({ do: 'unfollow', stream });
  };
}

/** watch shows a market until the returned function is called. */
export function watch(market: Watched, hooks: { candles: (rows: CandleRow[]) => void; gap: () => void }): () => void {
  view.pair = market.pair;
  view.book = null;
  view.tape = [];
  view.last = null;
  onCandles = hooks.candles;
  onGap = hooks.gap;
  tell({ do: 'watch', market });
  return () => {
    if (view.pair !== market.pair) return;
    view.pair = '';
    onCandles = onGap = null;
    tell({ do: 'watch', market: null });
  };
}

export function setResolution(resolution: string): void {
  tell({ do: 'resolution', resolution });
}

export function look(lens: Lens): void {
  tell({ do: 'look', lens });
}

/** sketch asks for an estimate now and whenever the book changes; null for no more. */
export function sketch(order: { terms: Terms; draft: Draft; funds: bigint } | null): void {
  sketched++;
  if (order === null) view.estimate = null;
  tell({ do: 'sketch', sketch: order && { ...order, number: sketched } });
}

/** reconnect connects anew: as another account, or as none. */
export function reconnect(): void {
  if (worker) tell({ do: 'reconnect' });
}
