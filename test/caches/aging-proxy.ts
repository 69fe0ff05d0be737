/** Leads to a service whose answers are fresh for one second instead of five minutes. */
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export const FRESH_MS = 1_000;

export class AgingProxy {
  readonly #server: Server;
  /** The status of each answer of the service. */
  readonly statuses: (number | undefined)[] = [];

  private constructor(target: string) {
    this.#server = createServer((asked, answer) => {
      const { method, headers } = asked;
      const passed = request(`${target}${asked.url}`, { method, headers }, (found) => {
        const named = { ...found.headers, "cache-control": "public, max-age=1" };
        this.statuses.push(found.statusCode);
        found.pipe(answer.writeHead(found.statusCode ?? 500, named));
      });
      asked.pipe(passed.on("error", () => answer.destroy()));
    });
  }

  static async start(target: string): Promise<AgingProxy> {
    const proxy = new AgingProxy(target);
    await once(proxy.#server.listen(0, "127.0.0.1"), "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // of a TCP server
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
