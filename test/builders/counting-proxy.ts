/** A TCP proxy on loopback that counts what goes through it, in both directions. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export class CountingProxy {
  readonly #sockets = new Set<Socket>();
  readonly #server;
  #bytes = 0;
  /** Stays what it was after a stop. */
  url = "";

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      const server = connect(Number(target.port), target.hostname);
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(from);
        from.on("data", (chunk) => (this.#bytes += chunk.length));
        from.on("error", () => to.destroy());
        from.pipe(to);
      }
    });
  }

  /** Leads to a server, from an unused port. */
  static async start(target: string): Promise<CountingProxy> {
    const proxy = new CountingProxy(new URL(target));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    const { port } = proxy.#server.address() as AddressInfo; // of a TCP server
    proxy.url = `http://127.0.0.1:${port}`;
    return proxy;
  }

  /** The bytes since this was last called. */
  takeBytes(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  /** Cuts all connections and takes no more. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, "close");
  }
}
