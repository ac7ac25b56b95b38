import { createServer, connect, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** PIECE is how many bytes pass a slow network at once. */
const PIECE = 512;

/** Proxy is the network between a browser and the exchange: it can cut, freeze and slow down every connection. */
export class Proxy {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #frozen = false;
  /** rate is in bytes a second, of all connections together, and free when the last piece has passed, in ms. */
  #rate = Infinity;
  #free = 0;

  private constructor(url: string, server: Server) {
    this.url = url;
    this.#server = server;
  }

  static async start(target: string): Promise<Proxy> {
    const { hostname, port } = new URL(target);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no address');
    const proxy = new Proxy(`http://127.0.0.1:${address.port}`, server);
    server.on('connection', (near) => {
      const far = connect({ host: hostname, port: Number(port) });
      proxy.#join(near, far, far);
      const narrow = proxy.#narrow();
      narrow.pipe(near);
      proxy.#join(far, narrow, near);
    });
    return proxy;
  }

  #join(from: Socket, by: NodeJS.WritableStream, to: Socket): void {
    this.#sockets.add(from);
    from.pipe(by);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    if (this.#frozen) from.pause();
  }

  /** narrow passes bytes on, piece by piece where the network is slow. */
  #narrow(): Transform {
    const pass = (chunk: Buffer, out: Transform, done: () => void): void => {
      if (this.#rate === Infinity) {
        out.push(chunk);
        return done();
      }
      const piece = chunk.subarray(0, PIECE);
      this.#free = Math.max(this.#free, performance.now()) + (piece.length * 1000) / this.#rate;
      setTimeout(() => {
        out.push(piece);
        if (piece.length < chunk.length) pass(chunk.subarray(PIECE), out, done);
        else done();
      }, this.#free - performance.now());
    };
    return new Transform({
      transform(chunk: Buffer, _, done) {
        pass(chunk, this, done);
      },
    });
  }

  /** slow lets so many bytes a second pass to the browser, on all connections together. */
  slow(rate: number): void {
    this.#rate = rate;
  }

  /** drop resets all connections. New ones are made as before. */
  drop(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** freeze lets nothing pass any more, on old connections and on new ones, and closes none. */
  freeze(): void {
    this.#frozen = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  /** thaw ends what was frozen, and lets new connections pass. */
  thaw(): void {
    this.#frozen = false;
    this.drop();
  }

  async stop(): Promise<void> {
    this.drop();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
