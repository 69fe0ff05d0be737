import { Code, ConnectError } from "@connectrpc/connect";
import { StringValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { frame, framesOf } from "../../builders/frames.ts";
import { RecordingReader } from "../../builders/recording-reader.ts";
import rows from "../../cases/protocol-requests.json";
import { brokenRules } from "./answer-rules.ts";
import { type AskedParts, MESSAGES, requestFrom } from "./damaged-requests.ts";
import { essenceOf, expectedEssence, plainRouter } from "./plain-router.ts";
import { aHandler, bytesOf, PATH, trailerOf } from "./requests.ts";

/** A row of the recorded requests; `status` is what Connect's own router gave, with `router_config`. */
type Row = (typeof rows)[number] & { readonly bodyHex?: string; readonly router_config?: string };

/** A reader that fails as the recorded implementation did for its locales `zz` and `boom`. */
function readerFor({ bodyHex = "" }: Row): RecordingReader {
  const reader = new RecordingReader();
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
const WITHOUT_ITS_SERVICE = "M13";

/** The recorded status; undefined where the recorded router had other options than this one. */
function statusOf({ id, status, router_config }: Row): number | undefined {
  if (id === WITHOUT_ITS_SERVICE) return 404;
  return router_config === undefined ? status : undefined;
}

/** The flag of its frame is one that nobody has defined, which the router overlooks. */
const UNKNOWN_FLAG = "W47";
/** The router takes what is not base64 for a bug of its own. */
const NOT_BASE64 = "G13";

describe("the handler", () => {
  const apart = [...SERVED_AROUND_THE_ROUTER, UNKNOWN_FLAG, NOT_BASE64];
  const compared = rows.filter(({ id }) => !apart.includes(id));

  it.each(compared)("answers as Connect's router does: $id $title", async (row: Row) => {
    const reader = readerFor(row);
    const routers = await plainRouter(reader)(requestOf(row));
    const expected = await expectedEssence(routers);
    const { handler } = aHandler({ reader });
    const fromStores = await handler(requestOf(row));
    expect(await rulesBrokenBy(fromStores.clone(), { reader, row })).toEqual([]);
    // Only stores fail.
    if (reader.openThrows === undefined) await reader.hold();
    const fromMemory = await handler(requestOf(row));

    expect(routers.status).toBe(statusOf(row) ?? routers.status);
    expect(await essenceOf(fromStores)).toEqual(expected);
    expect(await essenceOf(fromMemory)).toEqual(expected);
  });

  it.each(["proto", "json", "grpc-web+proto", "grpc-web+json"])(
    "answers odd messages as Connect's router does, however they arrive: %s",
    async (codec) => {
      const { handler, reader } = aHandler();
      const router = plainRouter(reader);
      for (const message of MESSAGES) {
        const framed = frame(message);
        const body = codec.startsWith("grpc-web") ? framed : new Uint8Array(message);
        const headers = { "content-type": `application/${codec}` };
        const post = { method: "POST", path: PATH, headers, body };
        const encoded = encodeURIComponent(new TextDecoder().decode(message));
        const path = `${PATH}?encoding=${codec}&message=${encoded}`;
        const get = { method: "GET", path, headers: {}, body };
        const ways: AskedParts[] = [post, { ...post, chunkBytes: 7 }, get];
        for (const asked of ways) {
          const expected = await expectedEssence(await router(requestFrom(asked)));
          expect(await essenceOf(await handler(requestFrom(asked)))).toEqual(expected);
        }
      }
    },
  );

  it("refuses a query that is not base64 as the client's mistake", async () => {
    const { handler } = aHandler();
    const answer = await handler(requestOf(rowOf(NOT_BASE64)));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      code: "invalid_argument",
      message: "message is not base64",
    });
  });

  it("serves three requests that the router refuses", async () => {
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

  it("refuses a frame with an unknown flag", async () => {
    const { handler } = aHandler();
    const body = await bytesOf(await handler(requestOf(rowOf(UNKNOWN_FLAG))));
    expect(framesOf(body).map(({ flags }) => flags)).toEqual([0x80]);
    expect(trailerOf(body, "grpc-status")).toBe("3");
  });

  it("agrees with the router in every recorded request but four", () => {
    expect(compared).toHaveLength(rows.length - apart.length);
    expect(rows.length).toBeGreaterThanOrEqual(105);
  });
});

/** Names of the rules for all answers that the answer to a row breaks. */
async function rulesBrokenBy(
  response: Response,
  { reader, row }: { readonly reader: RecordingReader; readonly row: Row },
): Promise<string[]> {
  const { method, headers } = requestOf(row);
  const locales = Object.keys(reader.manifest.locales);
  const asked = { method, path: row.url, headers: Object.fromEntries(headers), locales };
  return brokenRules(asked, { response, body: await bytesOf(response) });
}

function rowOf(id: string): Row {
  const row = rows.find((candidate) => candidate.id === id);
  if (row === undefined) throw new Error(`no row ${id}`);
  return row;
}
