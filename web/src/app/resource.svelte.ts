/** Resource is what a panel shows of one request: its value, the refusal of the last try, and how old the value is. */
export class Resource<T> {
  value: T | undefined = $state.raw();
  refusal: unknown = $state.raw(null);
  loading = $state(false);
  /** loadedAt is in milliseconds of this machine's clock, 0 while there is no value. */
  loadedAt = $state(0);

  readonly #request: (signal: AbortSignal) => Promise<T>;
  #under = new AbortController();

  constructor(request: (signal: AbortSignal) => Promise<T>) {
    this.#request = request;
  }

  /** load asks anew, and takes the place of a request that is under way. */
  async load(): Promise<void> {
    this.#under.abort();
    const mine = new AbortController();
    this.#under = mine;
    this.loading = true;
    try {
      const value = await this.#request(mine.signal);
      if (mine.signal.aborted) return;
      this.value = value;
      this.refusal = null;
      this.loadedAt = Date.now();
    } catch (cause) {
      if (!mine.signal.aborted) this.refusal = cause;
    } finally {
      if (this.#under === mine) this.loading = false;
    }
  }

  /** clear forgets the value, for a request that now asks for something else. */
  clear(): void {
    this.#under.abort();
    this.value = undefined;
    this.refusal = null;
    this.loadedAt = 0;
  }

  /** stop ends a request that is under way. */
  stop(): void {
    this.#under.abort();
  }
}

/** loaded loads a resource now and every so many milliseconds while the component lives and its tab is seen. */
export function loaded(resource: Resource<unknown>, period: number | (() => number) = 0): void {
  $effect(() => {
    const every = typeof period === 'number' ? period : period();
    void resource.load();
    if (every === 0) return () => resource.stop();

    const timer = setInterval(() => {
      if (!document.hidden) void resource.load();
    }, every);
    return () => {
      clearInterval(timer);
      resource.stop();
    };
  });
}
