/** Refusal is an answer that says no, or the lack of an answer. */
export class Refusal extends Error {
  /** status is HTTP's, and 0 where no answer came. */
  readonly status: number;
  /** code names the cause; it is stable, and what the message says is not. */
  readonly code: string;
  /** retryAfter is in whole seconds, where the exchange told it. */
  readonly retryAfter: number | null;
  /** detail has the other members of V2's error, such as what a passkey is asked. */
  readonly detail: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: string,
    message: string,
    retryAfter: number | null = null,
    detail: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
    this.detail = detail;
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Options {
  /** query holds what follows the question mark; undefined values are left out. */
  query?: Record<string, string | undefined>;
  /** body becomes JSON. */
  body?: unknown;
  /** once is an Idempotency-Key: a repeated request with it takes effect once. */
  once?: string;
  signal?: AbortSignal;
}

/** Rest sends requests below a base: '/web/api' with the page's cookie, or an exchange's address with a key. */
export class Rest {
  /** ahead is by how many ms the exchange's clock is ahead of this machine's: to a second, by the last answer's Date. */
  ahead = 0;
  readonly #base: string;
  readonly #key: string | null;
  readonly #fetch: typeof fetch;

  constructor(base: string, key: string | null = null, send: typeof fetch = globalThis.fetch.bind(globalThis)) {
    this.#base = base;
    this.#key = key;
    this.#fetch = send;
  }

  get<T>(path: string, query?: Options['query'], signal?: AbortSignal): Promise<T> {
    return this.send('GET', path, { ...(query && { query }), ...(signal && { signal }) });
  }

  post<T>(path: string, body: unknown = {}, options: Options = {}): Promise<T> {
    return this.send('POST', path, { ...options, body });
  }

  /** send resolves with the decoded answer, and throws a Refusal for every other outcome but an abort. */
  async send<T>(method: Method, path: string, options: Options = {}): Promise<T> {
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (options.body !== undefined) headers['Content-Type'] = 'application/json';
    if (options.once !== undefined) headers['Idempotency-Key'] = options.once;
    if (this.#key !== null) headers['Authorization'] = `Bearer ${this.#key}`;

    const init: RequestInit = { method, headers, credentials: this.#key === null ? 'same-origin' : 'omit' };
    if (options.body !== undefined) init.body = JSON.stringify(options.body);
    if (options.signal) init.signal = options.signal;

    const response = await this.#reach(this.#base + path + queryText(options.query), init);
    const date = Date.parse(response.headers.get('Date') ?? '');
    if (!isNaN(date)) this.ahead = date - Date.now();
    const answer = await decode(response);
    if (!response.ok) throw refusal(response, answer);
    if (isV1Error(answer)) throw refusal(response, answer);
    return answer as T;
  }

  async #reach(url: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#fetch(url, init);
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      throw new Refusal(0, 'UNREACHABLE', 'The exchange cannot be reached');
    }
  }
}

function queryText(query: Options['query']): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parts.append(name, value);
  }

  const text = parts.toString();
  return text === '' ? '' : `?${text}`;
}

async function decode(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(response.status, 'NOT_JSON', `The answer is not JSON (status ${response.status})`);
  }
}

/** isV1Error tells V1's form, which says no with status 200. */
function isV1Error(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'success' in answer && answer.success === false;
}

/** refusal reads both forms: V1's {error: text, code} and V2's {error: {code, msg}}. */
function refusal(response: Response, answer: unknown): Refusal {
  const body = (typeof answer === 'object' && answer !== null ? answer : {}) as { error?: unknown; code?: unknown };
  const wait = seconds(response.headers.get('Retry-After'));
  if (typeof body.error === 'object' && body.error !== null) {
    const { code, msg, ...detail } = body.error as Record<string, unknown>;
    return new Refusal(response.status, text(code, 'UNKNOWN'), text(msg, response.statusText), wait, detail);
  }

  return new Refusal(response.status, text(body.code, 'UNKNOWN'), text(body.error, response.statusText), wait);
}

function text(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}

/** seconds reads a header's whole seconds; a count of seconds is no number of the exchange, but it stays exact all the same. */
function seconds(header: string | null): number | null {
  if (header === null || !/^[0-9]{1,6}$/.test(header)) return null;
  return JSON.parse(header.replace(/^0+(?=.)/, '')) as number;
}
