// A connection to the exchange's streams that goes on by itself: it connects again, resumes each stream of
// events behind its last message, and never calls itself live when it is not.

/** Message is one of the exchange's, as its AsyncAPI document describes them. */
export interface Message {
  class: 'data' | 'reset' | 'resp';
  stream?: string;
  seq?: number;
  id?: number;
  success?: boolean;
  error?: string;
  code?: string;
  state?: unknown;
  [field: string]: unknown;
}

/**
 * State is live while the exchange answers, stale while it owes an answer for longer than it should, and offline
 * while there is no connection.
 */
export type State = 'live' | 'stale' | 'offline';

export interface StreamOptions {
  /** url is that of the exchange's /stream with ws: or wss:. */
  url: string;
  /** key authenticates the connection; without it there are public streams only, or a cookie does it. */
  key?: string;
  onState?: (state: State) => void;
  /** onReady is told that a stream is subscribed; the messages that it missed come after. */
  onReady?: (name: string) => void;
  /** onEnded is told that the exchange ended the credential. The connection is not made again. */
  onEnded?: (reason: string) => void;
}

/** Listener takes the messages of a stream. It may throw: the stream is then taken anew. */
export type Listener = (message: Message) => void;

const PING_EVERY = 5_000;
const LATE_AFTER = 1_200;
const LOST_AFTER = 3_000;
const CONNECT_WITHIN = 4_000;

/** PAUSES are the longest times between tries to connect, in ms; each is drawn between a half of it and it. */
const PAUSES = [150, 300, 500];
const PAUSE_LATER = 4_000;
const TRIES_SOON = 60;

/** RETRY_STREAM is the pause before a refused stream is asked for again, in ms. */
const RETRY_STREAM = 1_000;

/** POLICY is the close code for a credential that has ended. */
const POLICY = 1008;

/** PRIVATE are the streams of an account. */
const PRIVATE = ['myOrders', 'myTrades', 'myBalances', 'myTransfers'];

/** Subscription is a stream that is asked for. */
interface Subscription {
  name: string;
  listener: Listener;
  /** since is the sequence of the last message of a stream that resumes, else null. */
  since: number | null;
  /** asked is the id of the request that subscribes; zero for none. */
  asked: number;
  ready: boolean;
}

/** resumes reports whether the messages of a stream are counted, so that it may go on behind one. */
export function resumes(name: string): boolean {
  return PRIVATE.includes(name) || name.endsWith('@orderBook') || name.endsWith('@marketTrade');
}

/** Stream keeps a connection for as long as there is something to listen to. */
export class Stream {
  readonly #options: StreamOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  #socket: WebSocket | null = null;
  #state: State = 'offline';
  #lastID = 0;
  #tries = 0;
  #authID = 0;
  #pingID = 0;
  #closed = false;
  #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  get state(): State {
    return this.#state;
  }

  /** subscribe listens to a stream. since is the sequence of the last known message of one that resumes. */
  subscribe(name: string, listener: Listener, since = 0): void {
    const subscription = { name, listener, since: resumes(name) ? since : null, asked: 0, ready: false };
    this.#subscriptions.set(name, subscription);
    if (this.#socket === null) this.connect();
    else if (this.#usable()) this.#ask(subscription);
    this.#show();
  }

  /** unsubscribe stops listening to a stream. */
  unsubscribe(name: string): void {
    if (!this.#subscriptions.delete(name)) return;
    if (this.#usable()) this.#send({ op: 'unsub', streams: name });
    this.#show();
  }

  /** again takes a stream anew: one that resumes goes on behind its last message, another begins with a snapshot. */
  again(name: string): void {
    const subscription = this.#subscriptions.get(name);
    if (!subscription || !this.#usable()) return;
    this.#send({ op: 'unsub', streams: name });
    this.#ask(subscription);
    this.#show();
  }

  /** connect connects now, if there is no connection: when the machine's network is back, for example. */
  connect(): void {
    if (this.#closed || this.#socket !== null) return;
    this.#stop('connect');
    const socket = new WebSocket(this.#options.url);
    this.#socket = socket;
    this.#after('open', CONNECT_WITHIN, () => this.#lose(socket));
    socket.onopen = () => this.#open();
    socket.onmessage = (event: MessageEvent<string>) => this.#take(event.data);
    socket.onclose = (event) => {
      if (event.code === POLICY) this.#end(event.reason);
      else this.#lose(socket);
    };
  }

  /** close ends the connection for good. */
  close(): void {
    this.#closed = true;
    this.#drop();
  }

  #usable(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN && this.#authID === 0;
  }

  #open(): void {
    this.#stop('open');
    if (this.#options.key === undefined) {
      this.#askAll();
      return;
    }
    this.#authID = this.#send({ op: 'auth', api_key: this.#options.key });
    this.#ping();
  }

  #askAll(): void {
    for (const subscription of this.#subscriptions.values()) this.#ask(subscription);
    this.#ping();
  }

  #ask(subscription: Subscription): void {
    const { name, since } = subscription;
    subscription.ready = false;
    subscription.asked = this.#send({
      op: 'sub',
      streams: name,
      ...(since !== null && { since: { [name]: since } }),
    });
  }

  #send(request: Record<string, unknown>): number {
    this.#lastID++;
    this.#socket?.send(JSON.stringify({ ...request, id: this.#lastID }));
    return this.#lastID;
  }

  #ping(): void {
    if (this.#pingID !== 0) return;
    const socket = this.#socket;
    this.#pingID = this.#send({ op: 'ping' });
    this.#after('late', LATE_AFTER, () => this.#show());
    this.#after('lost', LOST_AFTER, () => {
      if (socket !== null) this.#lose(socket);
    });
  }

  #pong(): void {
    this.#pingID = 0;
    this.#stop('late');
    this.#stop('lost');
    this.#after('ping', PING_EVERY, () => this.#ping());
    this.#show();
  }

  #take(text: string): void {
    const message = JSON.parse(text) as Message;
    if (message.class === 'resp') {
      this.#answer(message);
      return;
    }

    const subscription = this.#subscriptions.get(message.stream ?? '');
    if (!subscription || (subscription.asked !== 0 && subscription.since === null)) return;
    if (this.#follows(subscription, message)) this.#deliver(subscription, message);
  }

  /** follows reports whether a message is new, and asks for the missing ones where it is too new. */
  #follows(subscription: Subscription, message: Message): boolean {
    if (subscription.since === null || message.seq === undefined) return true;
    if (message.class === 'data') {
      if (message.seq <= subscription.since) return false;
      if (message.seq > subscription.since + 1) {
        this.again(subscription.name);
        return false;
      }
    }
    subscription.since = message.seq;
    return true;
  }

  #deliver(subscription: Subscription, message: Message): void {
    try {
      subscription.listener(message);
    } catch {
      if (subscription.since !== null) subscription.since = 0;
      this.again(subscription.name);
    }
  }

  #answer(message: Message): void {
    if (message.id === this.#pingID) {
      this.#tries = 0;
      this.#pong();
      return;
    }
    if (message.id === this.#authID) {
      this.#authID = 0;
      if (message.success) this.#askAll();
      else this.#end(message.error ?? '');
      return;
    }
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.asked === message.id) this.#subscribed(subscription, message);
    }
    this.#show();
  }

  #subscribed(subscription: Subscription, message: Message): void {
    subscription.asked = 0;
    subscription.ready = message.success === true;
    if (subscription.ready) {
      this.#options.onReady?.(subscription.name);
      return;
    }
    this.#after(`again ${subscription.name}`, RETRY_STREAM, () => {
      if (this.#subscriptions.has(subscription.name) && this.#usable()) this.#ask(subscription);
    });
  }

  #end(reason: string): void {
    this.#closed = true;
    this.#drop();
    this.#options.onEnded?.(reason);
  }

  #lose(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#drop();
    if (this.#closed || this.#subscriptions.size === 0) return;
    const longest = this.#tries < TRIES_SOON ? (PAUSES[this.#tries] ?? PAUSES[PAUSES.length - 1] ?? 0) : PAUSE_LATER;
    this.#tries++;
    this.#after('connect', longest / 2 + (Math.random() * longest) / 2, () => this.connect());
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    if (socket !== null) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#pingID = this.#authID = 0;
    for (const subscription of this.#subscriptions.values()) {
      subscription.asked = 0;
      subscription.ready = false;
    }
    this.#show();
  }

  #after(name: string, delay: number, act: () => void): void {
    this.#stop(name);
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      act();
    }, delay);
    this.#timers.set(name, timer);
  }

  #stop(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  #show(): void {
    const state = this.#measure();
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onState?.(state);
  }

  #measure(): State {
    if (this.#socket?.readyState !== WebSocket.OPEN) return 'offline';
    if (this.#pingID !== 0 && !this.#timers.has('late')) return 'stale';
    for (const { ready } of this.#subscriptions.values()) {
      if (!ready) return 'stale';
    }
    return this.#authID === 0 ? 'live' : 'stale';
  }
}
