/** A fake of the deployed Worker, over HTTP on this machine: health, and an ingest that it plays. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export interface FakeServiceOptions {
  /** How the ingest ends. */
  readonly ingest?: "succeeded" | "failed";
  /** Polls of the run after which ingestion is paused, so that it goes no further. */
  readonly pausedAfter?: number;
  /** Generation that is served before the ingest; 0 for nothing. */
  readonly generation?: number;
  /** Requests that get no sensible answer at first, as of an address that is still being set up. */
  readonly deaf?: number;
  /** Tokens that the admin routes know. */
  readonly knows: (token: string) => boolean;
}

export interface FakeService {
  readonly url: string;
  /** Method and path of each request. */
  readonly requests: readonly string[];
  readonly stop: () => Promise<void>;
}

const COUNTS = { airports: 3, cities: 2, countries: 1, regions: 1 };

export async function fakeService(options: FakeServiceOptions): Promise<FakeService> {
  const { ingest = "succeeded", pausedAfter = Number.POSITIVE_INFINITY, deaf = 0, knows } = options;
  const requests: string[] = [];
  let generation = options.generation ?? 0;
  let polls = 0;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    requests.push(`${request.method} ${request.url}`);
    if (requests.length <= deaf) return send(response, 404, { error: "no such host" });
    if (request.url === "/catalog/health") return sendHealth(response);
    if (!knows(/^Bearer (.*)$/.exec(request.headers.authorization ?? "")?.[1] ?? ""))
      return send(response, 401, { detail: "Send a valid admin token." });
    if (request.method === "POST" && request.url === "/admin/ingest/queue")
      return send(response, 202, { run: run("queued") });
    if (request.url === "/admin/ingest/runs/run-1") return send(response, 200, nextRun());
    if (request.url === "/admin/ingest/runs?limit=1")
      return send(response, 200, { paused: polls >= pausedAfter });
    send(response, 404, { detail: "There is nothing here." });
  }

  function sendHealth(response: ServerResponse): void {
    if (generation === 0)
      return send(response, 503, { status: "fail", output: "nothing is published yet" });
    send(response, 200, { status: "pass", version: String(generation), counts: COUNTS });
  }

  function nextRun(): object {
    if (polls >= pausedAfter) return run(polls === 0 ? "queued" : "running");
    polls++;
    if (polls < 3) return run("running");
    if (ingest === "succeeded") generation++;
    return run(ingest);
  }

  function run(state: string): object {
    return {
      id: "run-1",
      state,
      outcome: state === "succeeded" ? "published" : null,
      stage: "encode",
      progress: { done: polls, total: 30 },
      generation_before: null,
      generation_after: state === "succeeded" ? generation : null,
      error:
        state === "failed"
          ? { code: "guard_shrink", stage: "guard", message: "airports 9074 to 4120" }
          : null,
    };
  }

  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was assigned");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
