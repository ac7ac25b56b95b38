import { createServer, connect, type Server, type Socket } from 'node:net';

/** Proxy is the network between a browser and the exchange: it can cut and freeze every connection. */
export class Proxy {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #frozen = false;

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
      proxy.#join(near, far);
      proxy.#join(far, near);
    });
    return proxy;
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    if (this.#frozen) from.pause();
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
