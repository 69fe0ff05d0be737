import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { describe, expect, it } from "vitest";
import { framesOf } from "../../builders/frames.ts";
import {
  aGet,
  aHandler,
  aPost,
  bytesOf,
  type PostType,
  trailerOf,
  URL_OF_METHOD,
} from "./requests.ts";

/** Body of a Connect error. */
async function errorOf(response: Response): Promise<unknown> {
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  return response.json();
}

/** The gRPC-Web body of an answer, decoded from base64 where it is text. */
async function grpcWebBodyOf(response: Response): Promise<Uint8Array> {
  const body = Buffer.from(await bytesOf(response));
  const isText = response.headers.get("content-type") === "application/grpc-web-text+proto";
  return new Uint8Array(isText ? Buffer.from(body.toString(), "base64") : body);
}

// Field numbers: https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
/** A field of fewer than 128 bytes, which are given in hex. */
const field = (tag: string, hex: string): string =>
  `${tag}${(hex.length / 2).toString(16).padStart(2, "0")}${hex}`;
const hexOf = (text: string): string => Buffer.from(text).toString("hex");
const encoded = (hex: string): string =>
  Buffer.from(hex, "hex").toString("base64").replace(/=+$/, "");

const GRPC_WEB: readonly PostType[] = [
  "application/grpc-web",
  "application/grpc-web+proto",
  "application/grpc-web+json",
  "application/grpc-web-text",
];

describe("a malformed locale", () => {
  it("leads to invalid_argument with the field and an example", async () => {
    const { handler, reader } = aHandler();
    const description =
      'locale is not a well-formed BCP 47 language tag; use a tag such as "de" or "pt-BR", or leave it empty';
    for (const request of [aPost("application/proto", { locale: "x" }), aGet({ locale: "x" })]) {
      const response = await handler(request);
      expect(response.status).toBe(400);
      expect(await errorOf(response)).toEqual({
        code: "invalid_argument",
        message: description,
        details: [
          {
            type: "google.rpc.BadRequest",
            debug: { fieldViolations: [{ field: "locale", description }] },
            value: encoded(
              field("0a", field("0a", hexOf("locale")) + field("12", hexOf(description))),
            ),
          },
        ],
      });
    }
    expect(reader.currentCalls).toBe(0);
  });

  it("does not appear in the answer", async () => {
    const { handler } = aHandler();
    const response = await handler(aPost("application/json", { locale: "<img>" }));
    expect(JSON.stringify(await errorOf(response))).not.toContain("img");
  });
});

describe("JSON in gRPC-Web that Connect cannot quote in a trailer", () => {
  const emoji = String.fromCodePoint(0x2ab46).repeat(12);

  it.each([
    ["a lone surrogate in place of an object", '"\\ud800"'],
    ["a surrogate pair at the place where V8 cuts its message off", `x${emoji}`],
    ["the same, one unit later", `xy${emoji}`],
  ])("leads to invalid_argument, and to no log entry of a bug: %s", async (_, json) => {
    const { handler, logged } = aHandler();
    const message = new TextEncoder().encode(json);
    const response = await handler(
      new Request(URL_OF_METHOD, {
        method: "POST",
        headers: { "content-type": "application/grpc-web+json" },
        body: encodeEnvelope(0, message),
      }),
    );
    expect(trailerOf(await bytesOf(response), "grpc-status")).toBe("3");
    expect(logged).toEqual([]);
  });
});

describe("a catalog that cannot be read", () => {
  it.each([
    ["nothing_published", "30", "no catalog is available"],
    ["unavailable", "5", "the catalog cannot be read at the moment"],
  ] as const)(
    "leads to unavailable because of %s, with the time of the next try",
    async (reason, seconds, message) => {
      const { handler, reader } = aHandler();
      reader.currentResult = { ok: false, reason };
      const response = await handler(aGet());
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe(seconds);
      expect(await errorOf(response)).toEqual({
        code: "unavailable",
        message,
        details: [
          {
            type: "google.rpc.RetryInfo",
            debug: { retryDelay: `${seconds}s` },
            value: encoded(seconds === "5" ? "0a020805" : "0a02081e"),
          },
        ],
      });
      const body = await grpcWebBodyOf(await handler(aPost("application/grpc-web-text")));
      expect(trailerOf(body, "grpc-status")).toBe("14");
      expect(trailerOf(body, "retry-after")).toBe(seconds);
    },
  );

  it("leads to data_loss if every copy is damaged", async () => {
    const { handler, reader } = aHandler();
    reader.openResult = { ok: false, reason: "data_loss" };
    const response = await handler(aPost("application/json"));
    expect(response.status).toBe(500);
    expect(await errorOf(response)).toEqual({
      code: "data_loss",
      message: "every copy of the catalog is damaged",
    });
    const body = await grpcWebBodyOf(await handler(aPost("application/grpc-web")));
    expect(trailerOf(body, "grpc-status")).toBe("15");
  });

  it("leads to unavailable even after it could be read, and to one read for each request", async () => {
    const { handler, reader } = aHandler();
    await handler(aGet());
    await handler(aGet());
    reader.opened.length = 0;
    reader.openResult = { ok: false, reason: "unavailable" };
    const response = await handler(aGet());
    expect(response.status).toBe(503);
    expect(reader.opened).toHaveLength(1);
    reader.openResult = undefined;
    expect((await handler(aGet())).status).toBe(200);
  });
});

describe("a HEAD that fails", () => {
  it.each([
    ["a malformed message", "encoding=proto&message=x", {}, 400],
    ["no base64", "encoding=proto&base64=1&message=!", {}, 400],
    ["a malformed locale", "encoding=json&message=%7B%22locale%22%3A%22--%22%7D", {}, 400],
    ["a precondition that does not hold", "encoding=proto", { "if-match": '"x"' }, 412],
    ["no encoding", "message=", {}, 415],
  ])("gets the headers of the GET, because of %s", async (_, query, headers, status) => {
    const { handler } = aHandler();
    const ask = (method: string) =>
      handler(new Request(`${URL_OF_METHOD}?${query}`, { method, headers }));
    const [head, get] = [await ask("HEAD"), await ask("GET")];
    expect([head.status, get.status]).toEqual([status, status]);
    expect([...head.headers]).toEqual([...get.headers]);
    const bytes = (await bytesOf(get)).byteLength;
    expect(get.headers.get("content-length")).toBe(bytes === 0 ? null : String(bytes));
    expect(await bytesOf(head)).toEqual(new Uint8Array());
  });
});

describe("a bug", () => {
  it("leads to internal, and only the log has its cause, once", async () => {
    const { handler, reader, logged } = aHandler();
    await handler(aPost("application/proto"));
    const cause = new TypeError("secret is undefined");
    reader.openThrows = cause;
    for (const type of ["application/proto", "application/json"] as const) {
      const response = await handler(aPost(type));
      expect(response.status).toBe(500);
      expect(await errorOf(response)).toEqual({ code: "internal", message: "internal error" });
    }
    for (const type of GRPC_WEB) {
      const response = await handler(aPost(type));
      const sentAs = response.headers.get("content-type");
      expect(sentAs).toBe(type.endsWith("+json") ? type : `${type.replace("+proto", "")}+proto`);
      const body = await grpcWebBodyOf(response);
      expect(trailerOf(body, "grpc-status")).toBe("13");
      expect(trailerOf(body, "grpc-message")).toBe("internal%20error");
    }
    expect(logged).toEqual(Array.from({ length: 2 + GRPC_WEB.length }, () => cause));
  });

  it("leads to internal before the call is read as well", async () => {
    const { handler, logged } = aHandler();
    const broken = altered(aPost("application/grpc-web"), (name) => {
      if (name === "arrayBuffer") throw new Error("no body");
    });
    const frames = framesOf(await bytesOf(await handler(broken)));
    expect(frames.map(({ flags }) => flags)).toEqual([0x80]);
    expect(logged).toHaveLength(1);
  });
});

/** The request, but for what `alter` answers in place of a property. */
function altered(request: Request, alter: (name: string | symbol) => unknown): Request {
  return new Proxy(request, {
    get(target, name) {
      const replaced = alter(name);
      if (replaced !== undefined) return replaced;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
