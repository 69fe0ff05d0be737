/** A real webhook receiver on loopback, which accepts messages, or fails on request. */
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A secret of 34 bytes. */
export const WEBHOOK_SECRET = `whsec_${Buffer.from("a key of at least twenty-four bytes").toString("base64")}`;

export interface ReceivedMessage {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers one request. */
export type Answer = (response: ServerResponse) => void;

/** Answers a status. */
export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (response) => void response.writeHead(code, headers).end("ok");
}

/** Leaves the connection open and says nothing. */
export const silence: Answer = () => {};

/** Breaks the connection before it answers. */
export const reset: Answer = (response) => void response.socket?.resetAndDestroy();

export class WebhookReceiver {
  /** All received requests, whatever the answers were. */
  readonly received: ReceivedMessage[] = [];
  /** How the next requests are answered, each with the next; the last one goes on. */
  answers: Answer[] = [status(200)];
  #server: Server | undefined;
  #port = 0;

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await receiver.comeBack();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  /** The bodies that have arrived, as JSON. */
  get bodies(): Record<string, unknown>[] {
    return this.received.map(({ body }) => JSON.parse(body));
  }

  /** The settings of webhooks with these names, each with a path of its own here. */
  settingsFor(...names: readonly string[]) {
    const targets = names.map((name) => ({
      name,
      kind: "webhook",
      url: `${this.url}/${name}`,
      secret: WEBHOOK_SECRET,
    }));
    return { ALERT_WEBHOOKS: JSON.stringify(targets) };
  }

  /** Goes away: connections are refused. */
  async goAway(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }

  /** Listens, where it did before. */
  async comeBack(): Promise<void> {
    const server = createServer((request, response) => void this.#take(request, response));
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "", headers } = request;
    this.received.push({ method, path, headers, body: await text(request) });
    const [answer = status(500)] = this.answers;
    if (this.answers.length > 1) this.answers.shift();
    answer(response);
  }
}
