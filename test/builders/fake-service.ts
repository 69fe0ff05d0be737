/** A fake of the deployed Worker, over HTTP on this machine: the catalog, and an ingest that it plays. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export interface FakeServiceOptions {
  /** How each ingest ends. */
  readonly ingest?: "succeeded" | "failed";
  /** Requests that get no sensible answer at first, as of an address that is still being set up. */
  readonly deaf?: number;
  /** Calls of the catalog after which its first ingest has come by itself. */
  readonly publishesAfter?: number;
  /** The token that the admin routes know. */
  readonly token: string;
}

export interface FakeService {
  readonly url: string;
  /** Method and path of each request. */
  readonly requests: readonly string[];
  readonly stop: () => Promise<void>;
}

const LISTS = { airports: [{}, {}, {}], cities: [{}, {}], countries: [{}], regions: [{}] };
const GUARDS = [{ code: "guard_shrink", message: "airports 9074 to 4120" }];
const ERROR = { code: "guard_shrink", stage: "guard", message: "airports 9074 to 4120" };

export async function fakeService(options: FakeServiceOptions): Promise<FakeService> {
  const { ingest = "succeeded", deaf = 0, publishesAfter = Infinity, token } = options;
  const requests: string[] = [];
  let generation = 0;
  let calls = 0;

  function answer({ method, url, headers }: IncomingMessage, response: ServerResponse): void {
    requests.push(`${method} ${url}`);
    if (requests.length <= deaf) return send(response, 404, { error: "no such host" });
    if (url === "/locations.v1.LocationsService/GetLocationsV1") return sendCatalog(response);
    if (headers.authorization !== `Bearer ${token}`)
      return send(response, 401, { detail: "Send a valid admin token." });
    if (url === "/admin/ingest/queue") return send(response, 202, { run: run("queued") });
    if (url === "/admin/ingest/runs/run-1") {
      if (ingest === "succeeded") generation++;
      return send(response, 200, run(ingest));
    }
    send(response, 404, { detail: "There is nothing here." });
  }

  function sendCatalog(response: ServerResponse): void {
    if (++calls > publishesAfter) generation ||= 1;
    const nothing = { code: "unavailable", message: "nothing is published yet" };
    response.setHeader("catalog-version", generation);
    send(response, generation === 0 ? 503 : 200, generation === 0 ? nothing : LISTS);
  }

  function run(state: string): object {
    return {
      id: "run-1",
      state,
      outcome: "published",
      stage: "encode",
      progress: { done: 0, total: 0 },
      generation_before: null,
      generation_after: generation,
      error: ERROR,
      guards: GUARDS,
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
