import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Stream, type Message, type State } from './stream';

/** Wire is the exchange's end of a connection. */
class Wire {
  static readonly OPEN = 1;
  static all: Wire[] = [];
  readyState = 0;
  readonly sent: { op: string; id: number; streams?: string; since?: Record<string, number> }[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;

  constructor(readonly url: string) {
    Wire.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Wire['sent'][number]);
  }

  close(): void {
    this.readyState = 3;
  }

  /** open accepts the connection. */
  open(): this {
    this.readyState = Wire.OPEN;
    this.onopen?.();
    return this;
  }

  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  /** grant answers all requests of a kind that have no answer yet. */
  grant(op: string, answer: object = { success: true }): void {
    for (const request of this.sent.filter((one) => one.op === op)) this.say({ class: 'resp', id: request.id, ...answer });
  }

  end(code: number, reason = ''): void {
    this.readyState = 3;
    this.onclose?.({ code, reason });
  }

  last(op: string): Wire['sent'][number] | undefined {
    return this.sent.filter((one) => one.op === op).at(-1);
  }
}

let states: State[];
let got: Message[];
let stream: Stream;

/** wire returns the newest connection. */
function wire(): Wire {
  const newest = Wire.all.at(-1);
  if (!newest) expect.unreachable('no connection');
  return newest;
}

/** live subscribes to a stream, and lets the exchange answer. */
function live(name: string): Wire {
  stream.subscribe(name, (message) => got.push(message));
  const to = wire().open();
  to.grant('sub');
  to.grant('ping');
  return to;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', Wire);
  Wire.all = [];
  states = [];
  got = [];
  stream = new Stream({ url: 'ws://exchange/stream', onState: (state) => states.push(state) });
});

afterEach(() => {
  stream.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('is live once everything is answered', () => {
  const to = live('myOrders');
  expect(to.last('sub')).toMatchObject({ streams: 'myOrders', since: { myOrders: 0 } });
  expect(states).toEqual(['live']);
});

test('resumes behind the last message after a cut', () => {
  const first = live('myOrders');
  first.say({ class: 'reset', stream: 'myOrders', seq: 7, state: { orders: [] } });
  first.say({ class: 'data', stream: 'myOrders', seq: 8 });
  first.say({ class: 'data', stream: 'myOrders', seq: 8 });
  first.end(1006);
  expect(stream.state).toBe('offline');

  vi.advanceTimersByTime(500);
  expect(Wire.all).toHaveLength(2);
  const second = wire().open();
  expect(second.last('sub')).toMatchObject({ since: { myOrders: 8 } });
  second.grant('sub');
  second.grant('ping');
  expect(stream.state).toBe('live');
  expect(got.map((message) => message.seq)).toEqual([7, 8]);
});

test('asks for what a gap leaves out', () => {
  const to = live('myOrders');
  to.say({ class: 'data', stream: 'myOrders', seq: 1 });
  to.say({ class: 'data', stream: 'myOrders', seq: 3 });
  expect(got.map((message) => message.seq)).toEqual([1]);
  expect(to.last('unsub')).toMatchObject({ streams: 'myOrders' });
  expect(to.last('sub')).toMatchObject({ since: { myOrders: 1 } });
});

test('takes a stream anew when its listener fails', () => {
  stream.subscribe('A/B@book', () => {
    throw new Error('a decimal of another market');
  });
  const to = wire().open();
  to.grant('sub');
  to.say({ class: 'reset', stream: 'A/B@book', seq: 1, state: {} });
  expect(to.last('unsub')).toMatchObject({ streams: 'A/B@book' });
  expect(to.sent.filter((one) => one.op === 'sub')).toHaveLength(2);
});

test('is stale when an answer is late, and connects again when it does not come', () => {
  const to = live('A/B@book');
  vi.advanceTimersByTime(5_000);
  expect(to.sent.filter((one) => one.op === 'ping')).toHaveLength(2);
  vi.advanceTimersByTime(1_200);
  expect(stream.state).toBe('stale');
  vi.advanceTimersByTime(1_800);
  expect(stream.state).toBe('offline');
  vi.advanceTimersByTime(500);
  expect(Wire.all).toHaveLength(2);
});

test('asks again for a stream that was refused', () => {
  stream.subscribe('A/B@book', (message) => got.push(message));
  const to = wire().open();
  to.grant('sub', { success: false, error: 'Too many requests' });
  to.grant('ping');
  expect(stream.state).toBe('stale');
  vi.advanceTimersByTime(1_000);
  expect(to.sent.filter((one) => one.op === 'sub')).toHaveLength(2);
});

test('ends when the credential does', () => {
  let reason = '';
  stream = new Stream({ url: 'ws://exchange/stream', key: 'secret', onEnded: (why) => (reason = why) });
  stream.subscribe('myOrders', (message) => got.push(message));
  const to = wire().open();
  expect(to.sent.map((one) => one.op)).toEqual(['auth', 'ping']);
  to.grant('auth');
  expect(to.last('sub')).toMatchObject({ streams: 'myOrders' });
  to.end(1008, 'key revoked');
  vi.advanceTimersByTime(60_000);
  expect(reason).toBe('key revoked');
  expect(Wire.all).toHaveLength(1);
});
