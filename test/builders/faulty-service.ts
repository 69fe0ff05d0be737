/** The service as a client sees it over a network that fails in each way that networks do. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { toBinary } from "@bufbuild/protobuf";
import type { ServedFile } from "../../client/src/search/served.ts";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { aCatalog } from "./catalog.ts";
import { CatalogService } from "./catalog-service.ts";
import { aLocationsResponse } from "./locations-response.ts";

/** A whole answer of the good service. */
interface Whole {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
}

interface Fault {
  readonly name: string;
  /** Of the error that a client gets. */
  readonly code: "unavailable" | "deadline_exceeded";
  readonly send: (response: ServerResponse, whole: Whole) => void;
}

const PAGE = "<!doctype html><title>Sign in</title>";

const half = ({ body }: Whole) => body.subarray(0, body.length / 2);

function page(status: number, more = {}): Fault["send"] {
  return (response) =>
    void response.writeHead(status, { "content-type": "text/html", ...more }).end(PAGE);
}

export const FAULTS: readonly Fault[] = [
  {
    name: "is cut in its head",
    code: "unavailable",
    send: (response) => void response.socket?.destroy(),
  },
  {
    name: "is cut in its body",
    code: "unavailable",
    send(response, whole) {
      const length = { "content-length": String(whole.body.length) };
      response.writeHead(whole.status, { ...whole.headers, ...length });
      response.write(half(whole), () => response.socket?.destroy());
      if (whole.body.length === 0) response.socket?.destroy();
    },
  },
  {
    name: "was cut before a cache",
    code: "unavailable",
    send: (response, whole) => {
      // A cut answer to a HEAD is a cut head.
      if (response.req.method === "HEAD") response.socket?.destroy();
      else response.writeHead(whole.status, whole.headers).end(half(whole));
    },
  },
  {
    name: "is empty",
    code: "unavailable",
    send: (response, { headers }) => void response.writeHead(200, headersOfNothing(headers)).end(),
  },
  { name: "is the page of a portal", code: "unavailable", send: page(200) },
  {
    name: "leads to a portal",
    code: "unavailable",
    send: (response) => void response.writeHead(302, { location: "/portal" }).end(),
  },
  { name: "is a CDN's 503", code: "unavailable", send: page(503, { "retry-after": "7" }) },
  { name: "is a CDN's 429", code: "unavailable", send: page(429) },
  { name: "is a CDN's 521", code: "unavailable", send: page(521) },
  { name: "never comes", code: "deadline_exceeded", send: () => undefined },
  {
    name: "stops midway",
    code: "deadline_exceeded",
    send(response, whole) {
      response.writeHead(whole.status, whole.headers);
      response.write(response.req.method === "HEAD" ? "" : half(whole));
    },
  },
];

/** What a service says of an answer is not what a machine before it says of nothing. */
function headersOfNothing(headers: Whole["headers"]): Whole["headers"] {
  return { "content-type": headers["content-type"] ?? "" };
}

/** A small catalog. */
export function catalogBytes(): Uint8Array<ArrayBuffer> {
  return toBinary(LocationsResponseSchema, aLocationsResponse(aCatalog()));
}

/** Finds Zurich with them alone. */
export const OTHER_NAME = "tsurihi";

export class FaultyService {
  readonly service: CatalogService;
  fault: Fault | undefined;
  /** Paths of it that are spoilt; all of them by default. */
  spoilt = /^/;
  /** Files beside it, by path. */
  readonly pages = new Map<string, { readonly type: string; readonly text: string }>();
  readonly #server = createServer((request, response) => {
    void this.#answer(request.url ?? "", request.method ?? "", response);
  });

  /** @param served with which it is a service for `openSearch`, too. */
  constructor(served: ServedFile) {
    this.service = new CatalogService({ version: 1, bytes: catalogBytes() });
    this.service.files = {
      "ranks.json": { airports: ["ZRH"], tiers: "0", names: {}, cities: [], codes: {} },
      "served.json": served,
      "names.json": { airports: { ZRH: OTHER_NAME }, cities: {}, regions: {}, regionCodes: {} },
    };
  }

  async start(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on TCP
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(path: string, method: string, response: ServerResponse): Promise<void> {
    const beside = this.pages.get(path);
    if (path === "/portal") return page(200)(response, NOTHING);
    const isSpoilt = this.fault !== undefined && this.spoilt.test(path);
    const answer = beside
      ? new Response(beside.text, { headers: { "content-type": beside.type, ...ANY_ORIGIN } })
      : await this.service.fetch(`${this.url}${path}`, { method });
    const whole = {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: new Uint8Array(await answer.arrayBuffer()),
    };
    if (isSpoilt) this.fault?.send(response, whole);
    else response.writeHead(whole.status, whole.headers).end(whole.body);
  }
}

const ANY_ORIGIN = { "access-control-allow-origin": "*" };

const NOTHING: Whole = { status: 200, headers: {}, body: new Uint8Array() };
