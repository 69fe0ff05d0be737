import { gunzipSync, gzipSync } from "node:zlib";
import { Code, ConnectError, type ConnectRouterOptions } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { StringValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { createRpcHandler } from "../../../src/rpc/handler.ts";
import { FakeCatalogReader } from "../../builders/fake-catalog-reader.ts";
import rows from "../../cases/protocol-requests.json";
import { essenceOf, plainRouter } from "./plain-router.ts";
import { aHandler } from "./requests.ts";

/** A row of the recorded requests; `status` is what Connect's own router gave. */
type Row = (typeof rows)[number] & { readonly bodyHex?: string; readonly router_config?: string };

const gzip: Compression = {
  name: "gzip",
  compress: async (bytes) => new Uint8Array(gzipSync(bytes)),
  async decompress(bytes, readMaxBytes) {
    try {
      if (bytes.byteLength === 0) return new Uint8Array();
      return new Uint8Array(gunzipSync(bytes, { maxOutputLength: readMaxBytes }));
    } catch (cause) {
      const tooLong = cause instanceof RangeError || /larger than/.test(String(cause));
      throw new ConnectError(
        "cannot decompress",
        tooLong ? Code.ResourceExhausted : Code.InvalidArgument,
      );
    }
  },
};

/** Options of the recorded router. */
const ROUTER_CONFIGS: Record<string, ConnectRouterOptions> = {
  gzip: { acceptCompression: [gzip] },
  maxto: { maxTimeoutMs: 60_000 },
  read64: { readMaxBytes: 64 },
  read64gzip: { readMaxBytes: 64, acceptCompression: [gzip] },
  write64: { writeMaxBytes: 64 },
  reqver: { requireConnectProtocolHeader: true },
};

function routerOptions({ router_config }: Row): ConnectRouterOptions {
  if (router_config === undefined) return {};
  const options = ROUTER_CONFIGS[router_config];
  if (options === undefined) throw new Error(`unknown router_config ${router_config}`);
  return options;
}

/** A reader that fails as the recorded implementation did for its locales `zz` and `boom`. */
function readerFor({ bodyHex = "" }: Row): FakeCatalogReader {
  const reader = new FakeCatalogReader();
  const body = Buffer.from(bodyHex, "hex").toString("latin1");
  if (body.includes("boom")) reader.openThrows = new Error("boom");
  if (body.includes("zz")) {
    const details = [{ desc: StringValueSchema, value: { value: "zz" } }];
    const metadata = { "x-custom": "1" };
    reader.openThrows = new ConnectError("no such löcale", Code.NotFound, metadata, details);
  }
  return reader;
}

function requestOf(row: Row): Request {
  const headers = new Headers(Object.entries(row.headers));
  // No language has four letters, so that the row would not get as far as to fail.
  const bodyHex = row.bodyHex?.replace("0a04626f6f6d", "0a02656e");
  const body = bodyHex === undefined ? null : Buffer.from(bodyHex, "hex");
  if (body !== null) headers.set("content-length", String(body.byteLength));
  return new Request(`http://localhost${row.url}`, { method: row.method, headers, body });
}

/** Rows that are served on purpose although the router refuses them. */
const SERVED_AROUND_THE_ROUTER = ["M04", "W04", "W05"];
/** M13 was recorded with a second service; without it the path is unknown. */
const WITHOUT_ITS_SERVICE: Record<string, number> = { M13: 404 };

describe("the handler answers as Connect's router does", () => {
  const compared = rows.filter(({ id }) => !SERVED_AROUND_THE_ROUTER.includes(id));

  it.each(compared)("$id $title", async (row: Row) => {
    const reader = readerFor(row);
    const options = routerOptions(row);
    const routers = await plainRouter(reader, options)(requestOf(row));
    const handler = createRpcHandler({
      reader,
      defaultLocale: "en",
      log: () => undefined,
      router: options,
    });
    const first = await handler(requestOf(row));
    const second = await handler(requestOf(row));
    reader.holds = true;
    const third = await handler(requestOf(row));

    expect(first.status).toBe(WITHOUT_ITS_SERVICE[row.id] ?? row.status);
    const expected = await essenceOf(routers);
    expect(await essenceOf(first)).toEqual(expected);
    expect(await essenceOf(second)).toEqual(expected);
    expect(await essenceOf(third)).toEqual(expected);
  });

  it("and serves around it what it refuses", async () => {
    const { handler } = aHandler();
    const [head, text, textProto] = await Promise.all(
      SERVED_AROUND_THE_ROUTER.map(async (id) => handler(requestOf(rowOf(id)))),
    );
    const [got, framed] = await Promise.all(
      ["G01", "W01"].map(async (id) => handler(requestOf(rowOf(id)))),
    );
    expect(head?.status).toBe(200);
    expect([...(head?.headers.keys() ?? [])]).toEqual(
      [...new Set(["content-length", ...(got?.headers.keys() ?? [])])].toSorted(),
    );
    const base64 = Buffer.from((await framed?.arrayBuffer()) ?? []).toString("base64");
    for (const response of [text, textProto]) {
      const body = Buffer.from((await response?.arrayBuffer()) ?? []);
      expect(body.toString()).toBe(base64);
      expect(response?.headers.get("content-type")).toBe("application/grpc-web-text+proto");
    }
  });

  it("in each of the recorded requests", () => {
    expect(compared).toHaveLength(rows.length - SERVED_AROUND_THE_ROUTER.length);
    expect(rows.length).toBeGreaterThanOrEqual(105);
  });
});

function rowOf(id: string): Row {
  const row = rows.find((candidate) => candidate.id === id);
  if (row === undefined) throw new Error(`no row ${id}`);
  return row;
}
