import { Agent, request } from 'node:http';
import type { Exchange } from '../exchange';

/** BATCH is the number of orders of a request, each of which changes a level of its own. */
const BATCH = 50;

/** SENDERS have a connection each, and the next request on it waits for the answer to the one before. */
const SENDERS = 8;

/** FIRST is the lowest price of the bids that one request places, and the next one takes one by one. */
const FIRST = 59_000;

/** Load changes a number of levels of BTC/USDT a second until it is stopped. */
export class Load {
  readonly #url: string;
  readonly #bodies: string[];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
  #running = true;
  #sent = 0;
  #done: Promise<void> = Promise.resolve();

  private constructor(url: string, key: string) {
    this.#url = `${url}/spot/open_orders/batch`;
    this.#bodies = (['BUY', 'SELL'] as const).map((side) =>
      JSON.stringify({
        api_key: key,
        requests: Array.from({ length: BATCH }, (_, at) => ({
          place: {
            pair: 'BTC/USDT', side, type: 'LIMIT', time_in_force: 'GTC', amount: '0.001', self_trade: 'NONE', resp_type: 'ACK',
            price: String(side === 'BUY' ? FIRST + at : FIRST),
          },
        })),
      }),
    );
  }

  /** start begins to change so many levels a second. */
  static async start(exchange: Exchange, rate: number): Promise<Load> {
    const email = 'load@example.org';
    await exchange.admin('account', 'create', email);
    for (const [asset, amount] of [['BTC', '1000'], ['USDT', '100000000']] as const) await exchange.admin('credit', email, asset, amount);
    const made = JSON.parse(await exchange.admin('key', 'create', email, '--name', 'load')) as Record<string, string>;
    const load = new Load(exchange.url, made['api_key'] ?? made['apiKey'] ?? made['key'] ?? '');
    for (const body of load.#bodies) check(await load.#send(body));
    load.#done = Promise.all(Array.from({ length: SENDERS }, () => load.#run(rate / SENDERS))).then(() => undefined);
    return load;
  }

  /** changes is the number of levels changed so far. */
  get changes(): number {
    return this.#sent * BATCH;
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#done;
    this.#agent.destroy();
  }

  async #run(rate: number): Promise<void> {
    const began = performance.now();
    for (let sent = 1; this.#running; sent++) {
      await this.#send(this.#bodies[sent % this.#bodies.length] ?? '');
      const due = began + ((sent * BATCH) / rate) * 1000;
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  async #send(body: string): Promise<string> {
    const text = await new Promise<string>((resolve, reject) => {
      const asked = request(this.#url, { method: 'POST', agent: this.#agent, headers: { 'Content-Type': 'application/json' } }, (answer) => {
        let got = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => (got += part));
        answer.on('end', () => resolve(got));
        answer.on('error', reject);
      });
      asked.on('error', reject);
      asked.end(body);
    });
    this.#sent++;
    return text;
  }
}

/** check wants every order of a request to be taken. */
function check(answer: string): void {
  if (!answer.startsWith('{"success":true') || answer.includes('"success":false')) throw new Error(`the load is refused: ${answer.slice(0, 300)}`);
}
