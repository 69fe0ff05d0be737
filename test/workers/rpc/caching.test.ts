import { describe, expect, it } from "vitest";
import { CODINGS } from "../../../src/parts/manifest.ts";
import { RecordingReader } from "../../builders/recording-reader.ts";
import { aGet, aHandler, aPost, bytesOf, type Subject } from "./requests.ts";

async function tagOf({ handler }: Subject, request: Request): Promise<string> {
  const tag = (await handler(request)).headers.get("etag");
  if (tag === null) throw new Error("no entity tag");
  return tag;
}

describe("the headers of a success", () => {
  const COMMON = {
    "catalog-version": "7",
    "content-language": "en",
    "last-modified": "Sun, 01 Nov 2026 12:34:56 GMT",
  };
  const CACHEABLE = "public, max-age=300, stale-while-revalidate=172800, stale-if-error=604800";

  it.each([
    ["GET", () => aGet(), CACHEABLE, ""],
    ["HEAD", () => aGet({ method: "HEAD" }), CACHEABLE, ""],
    ["POST", () => aPost("application/proto"), "no-store", ""],
    ["gRPC-Web", () => aPost("application/grpc-web+proto"), "no-store", "identity-"],
    ["gRPC-Web in base64", () => aPost("application/grpc-web-text"), "no-store", "text-identity-"],
    ["gRPC-Web JSON", () => aPost("application/grpc-web+json"), "no-store", "identity-"],
  ])("name the version in the answer to %s", async (_, build, cacheControl, tag) => {
    const { handler, reader } = aHandler();
    const { headers, status } = await handler(build());
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      ...COMMON,
      "cache-control": cacheControl,
      vary: "Accept-Encoding",
      "catalog-sha256": reader.messageSha256("en"),
    });
    expect(headers.get("etag")).toMatch(new RegExp(`^"${tag}[0-9a-f]{32}"$`));
    expect(headers.has("locale-fallback")).toBe(false);
    expect(headers.get("timing-allow-origin")).toBe("*");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("and the body are the same for a client that still offers a dictionary", async () => {
    const { handler } = aHandler();
    const accepted = { "accept-encoding": "br, dcb, dcz" };
    const offered = { ...accepted, "available-dictionary": `:${btoa("a".repeat(32))}:` };
    const [plain, answer] = [
      await handler(aGet({ headers: accepted })),
      await handler(aGet({ headers: offered })),
    ];
    expect(answer.headers.get("content-encoding")).toBe("br");
    expect(Object.fromEntries(answer.headers)).toEqual(Object.fromEntries(plain.headers));
    expect(await bytesOf(answer)).toEqual(await bytesOf(plain));
  });

  it("do not depend on earlier requests", async () => {
    const withQuery = (more: string) => new Request(`${aGet().url}&${more}`);
    const sha256 = new RecordingReader().messageSha256("en");
    const requests = [
      () => aGet(),
      () => aGet({ method: "HEAD" }),
      () => aGet({ headers: { "if-none-match": "*" } }),
      () => withQuery(`v=${sha256}`),
      () => aPost("application/proto"),
      () => aPost("application/proto", { locale: "en-GB" }),
      () => aPost("application/proto", { locale: "ja" }),
    ];
    const headersOf = async ({ handler }: Subject, build: () => Request) =>
      Object.fromEntries((await handler(build())).headers);
    const alone = await Promise.all(requests.map((build) => headersOf(aHandler(), build)));
    expect(new Set(alone.map((headers) => JSON.stringify(headers))).size).toBe(requests.length);
    const shared = aHandler();
    for (const round of ["made", "held"])
      for (const [index, build] of requests.entries())
        expect(await headersOf(shared, build), round).toEqual(alone[index]);
  });

  it("name a new version even if the body is the same", async () => {
    const { handler, reader } = aHandler();
    await handler(aGet());
    reader.publish({ generation: 8, published_at: "2026-11-02T00:00:00.000Z" });
    const { headers } = await handler(aGet());
    expect(headers.get("catalog-version")).toBe("8");
    expect(headers.get("last-modified")).toBe("Mon, 02 Nov 2026 00:00:00 GMT");
  });
});

describe("an entity tag", () => {
  it("differs between locales, codecs and codings", async () => {
    const subject = aHandler();
    const tags = new Set<string>();
    for (const locale of ["en", "de"]) {
      for (const encoding of ["proto", "json"] as const) {
        for (const coding of CODINGS) {
          const headers = { "accept-encoding": coding };
          tags.add(await tagOf(subject, aGet({ locale, encoding, headers })));
        }
      }
    }
    expect(tags.size).toBe(2 * 2 * CODINGS.length);
  });
});

it("an answer is in another coding if the best one is not published", async () => {
  const { handler } = aHandler({ reader: new RecordingReader({ codings: ["gzip"] }) });
  const codingFor = async (accepted: string) =>
    (await handler(aGet({ headers: { "accept-encoding": accepted } }))).headers.get(
      "content-encoding",
    );
  expect([await codingFor("br, gzip"), await codingFor("br")]).toEqual(["gzip", null]);
});

describe("a request with If-None-Match", () => {
  it("gets 304 with the headers of the body, and without it, for its tag", async () => {
    const subject = aHandler();
    const accepted = { "accept-encoding": "gzip, deflate, br, zstd" };
    const etag = await tagOf(subject, aGet({ headers: accepted }));
    subject.reader.opened.length = 0;
    for (const method of ["GET", "HEAD", "GET"]) {
      const headers = { ...accepted, "if-none-match": etag };
      const response = await subject.handler(aGet({ method, headers }));
      expect(response.status).toBe(304);
      expect(response.body).toBeNull();
      expect(Object.fromEntries(response.headers)).toMatchObject({
        etag,
        "content-type": "application/proto",
        "content-encoding": "br",
        vary: "Accept-Encoding",
        "access-control-allow-origin": "*",
        "cache-control": expect.stringContaining("max-age=300"),
      });
    }
    expect(subject.reader.opened).toEqual([]);
  });

  it("gets the body for another tag", async () => {
    const subject = aHandler();
    const json = await tagOf(subject, aGet({ encoding: "json" }));
    const gzip = await tagOf(subject, aGet({ headers: { "accept-encoding": "gzip" } }));
    for (const tag of ['"x"', json, gzip]) {
      const response = await subject.handler(aGet({ headers: { "if-none-match": tag } }));
      expect(response.status).toBe(200);
    }
  });

  it("gets the whole answer to a POST", async () => {
    const subject = aHandler();
    for (const type of [
      "application/proto",
      "application/grpc-web",
      "application/grpc-web+json",
    ] as const) {
      const response = await subject.handler(aPost(type, { headers: { "if-none-match": "*" } }));
      expect(response.status).toBe(200);
    }
  });

  it("never turns an error into a success", async () => {
    const subject = aHandler();
    const headers = { "if-none-match": "*" };
    const malformed = await subject.handler(aGet({ locale: "--", headers }));
    subject.reader.currentResult = { ok: false, reason: "unavailable" };
    const unavailable = await subject.handler(aGet({ headers }));
    expect([malformed.status, unavailable.status]).toEqual([400, 503]);
    for (const response of [malformed, unavailable]) {
      expect(response.headers.has("etag")).toBe(false);
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
  });
});

describe("a HEAD request", () => {
  it("gets the headers of GET and the length of the body, without reading it", async () => {
    const { handler, reader } = aHandler();
    const get = await handler(aGet({ headers: { "accept-encoding": "gzip" } }));
    reader.opened.length = 0;
    const head = await handler(aGet({ method: "HEAD", headers: { "accept-encoding": "gzip" } }));
    const length = String((await bytesOf(get)).byteLength);
    expect(head.status).toBe(200);
    expect(head.body).toBeNull();
    expect(Object.fromEntries(head.headers)).toEqual({
      ...Object.fromEntries(get.headers),
      "content-length": length,
      "server-timing": 'from;desc="manifest"',
    });
    expect(get.headers.get("server-timing")).toBe('from;desc="kv"');
    expect(reader.opened).toEqual([]);
  });

  it("gets the status of a bad request without a body", async () => {
    const { handler } = aHandler();
    const response = await handler(aGet({ method: "HEAD", locale: "--" }));
    expect(response.status).toBe(400);
    expect(response.body).toBeNull();
  });
});
