import { createHash } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { LocationsService } from "../../../gen/locations/v1/locations_pb.ts";
import type { Manifest } from "../../../src/catalog/manifest.ts";
import { createRpcHandler, type RpcHandler } from "../../../src/rpc/handler.ts";
import { readHead } from "../../../src/rpc/request.ts";
import { CachedCatalogReader } from "../../../src/storage/cached-catalog-reader.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";

const URL_OF_METHOD = `http://localhost/${LocationsService.typeName}/GetLocationsV1`;

/** What is published, by its locales. */
const versions = new Map<string, { readonly world: PipelineWorld; readonly manifest: Manifest }>();

beforeAll(async () => {
  for (const locales of ["de,en", "de,ja", "ja", "de"]) {
    const world = new PipelineWorld(locales.split(","));
    await world.runToEnd();
    if (world.current !== null) versions.set(locales, { world, manifest: world.current });
  }
});

function versionOf(locales: string) {
  const version = versions.get(locales);
  if (version === undefined) throw new Error(`${locales} is not published`);
  return version;
}

/** A new isolate over the catalog in some locales. */
function serve(locales: string, defaultLocale: string): RpcHandler {
  return createRpcHandler({
    reader: new CachedCatalogReader({
      store: versionOf(locales).world.store,
      now: Date.now,
      waitUntil: () => {},
      report: () => {},
      createPipe: () => new TransformStream(),
      manifestFreshMs: 30_000,
      cacheMaxBytes: 10_000_000,
    }),
    defaultLocale,
    log: (_message, cause) => {
      throw cause;
    },
  });
}

const ask = (handler: RpcHandler, url: string, init: RequestInit = {}) => {
  const request = new Request(url, init);
  return handler(request, readHead(request));
};

const jsonOf = (locale: string) => JSON.stringify({ locale });
const protoOf = (locale: string) =>
  Buffer.from(locale === "" ? [] : [10, locale.length, ...Buffer.from(locale)]);
const framed = (message: Uint8Array) => Buffer.from([0, 0, 0, 0, message.length, ...message]);
const queryOf = (locale: string, more = "") =>
  `?connect=v1&encoding=json&message=${encodeURIComponent(jsonOf(locale))}${more}`;

const post = (
  type: string,
  body: (locale: string) => Uint8Array<ArrayBuffer> | string,
  headers: { readonly [name: string]: string } = {},
) => {
  return (locale: string): [string, RequestInit] => [
    URL_OF_METHOD,
    { method: "POST", headers: { "content-type": type, ...headers }, body: body(locale) },
  ];
};
const get = (method: string, headers: { readonly [name: string]: string } = {}, more = "") => {
  return (locale: string): [string, RequestInit] => [
    URL_OF_METHOD + queryOf(locale, more),
    { method, headers },
  ];
};

/** Each way to call the method, by a name. */
const DOORS: { readonly [door: string]: (locale: string) => [url: string, init: RequestInit] } = {
  "Connect POST": post("application/proto", protoOf),
  "Connect POST in JSON": post("application/json", jsonOf),
  "a POST that Connect's router reads": post("application/json", (locale) =>
    JSON.stringify({ locale, other: 1 }),
  ),
  "a POST with a deadline": post("application/proto", protoOf, { "connect-timeout-ms": "5000" }),
  "gRPC-Web": post("application/grpc-web+proto", (locale) => framed(protoOf(locale))),
  "gRPC-Web with a deadline": post("application/grpc-web", (locale) => framed(protoOf(locale)), {
    "grpc-timeout": "5S",
  }),
  "gRPC-Web in JSON": post("application/grpc-web+json", (locale) =>
    framed(Buffer.from(jsonOf(locale))),
  ),
  "gRPC-Web text": post("application/grpc-web-text", (locale) =>
    framed(protoOf(locale)).toString("base64"),
  ),
  "Connect GET": get("GET"),
  "Connect GET in proto": (locale) => [
    `${URL_OF_METHOD}?connect=v1&encoding=proto&base64=1&message=${protoOf(locale).toString("base64url")}`,
    {},
  ],
  "a GET with a deadline": get("GET", { "connect-timeout-ms": "5000" }),
  HEAD: get("HEAD"),
};

/** Published locales, DEFAULT_LOCALE, the requested locale, and what answers. */
const ROWS = [
  ["de,en", "de", "", "de", null],
  ["de,en", "ja", "", "en", "default"],
  ["de,en", "ja", "ja", "en", "default"],
  ["de,en", "ja", "ja-JP", "en", "default"],
  ["de,en", "ja", "xx", "en", "default"],
  ["de,en", "ja", "und", "en", "default"],
  ["de,en", "ja", "en", "en", null],
  ["de,en", "ja", "de", "de", null],
  ["de,en", "ja", "de-AT", "de", "parent"],
  ["de,en", "de-AT", "de-AT", "de", "parent"],
  ["de,en", "de-AT", "", "en", "default"],
  ["de,ja", "en", "", "de", "default"],
  ["de,ja", "en", "en", "de", "default"],
  ["de,ja", "en", "ja", "ja", null],
  ["ja", "en", "", "ja", "default"],
  ["ja", "fr", "fr", "ja", "default"],
  ["de", "constructor", "", "de", "default"],
  ["de", "__proto__", "", "de", "default"],
  ["de", "", "", "de", "default"],
] as const;

describe.each(ROWS)(
  "where %s are published and the default locale is %j, a request for %j",
  (locales, defaultLocale, asked, locale, fallback) => {
    it.each(Object.keys(DOORS))("is answered in a published locale over %s", async (door) => {
      const handler = serve(locales, defaultLocale);
      const { sha256 } = versionOf(locales).manifest.locales[locale] ?? {};
      // The second answer comes from memory.
      for (const _ of [1, 2]) {
        const [url, init] = DOORS[door]?.(asked) ?? [""];
        const answer = await ask(handler, url, init);
        expect(answer.status).toBe(200);
        expect(answer.headers.get("content-language")).toBe(locale);
        expect(answer.headers.get("locale-fallback")).toBe(fallback);
        expect(answer.headers.get("catalog-sha256")).toBe(sha256);
        await answer.arrayBuffer();
      }
    });
  },
);

describe("a default locale that is not published", () => {
  const url = URL_OF_METHOD + queryOf("");

  it("leaves conditional and pinned requests as they are", async () => {
    const handler = serve("de,ja", "fr");
    const { headers } = await ask(handler, url);
    const etag = headers.get("etag") ?? "";
    const pin = headers.get("catalog-sha256") ?? "";
    const same = await ask(handler, url, { headers: { "if-none-match": etag } });
    expect(same.status).toBe(304);
    expect(same.headers.get("content-language")).toBe("de");
    const other = await ask(handler, url, { headers: { "if-match": '"x"' } });
    expect(other.status).toBe(412);
    const pinned = await ask(handler, `${url}&v=${pin}`);
    expect(pinned.headers.get("cache-control")).toContain("immutable");
    expect(pinned.headers.get("locale-fallback")).toBe("default");
    expect((await ask(handler, `${url}&v=${"0".repeat(64)}`)).status).toBe(404);
  });

  it("is answered to a client with a dictionary, in whatever coding", async () => {
    const handler = serve("de,ja", "fr");
    const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
    const whole = await bytesOf(await ask(handler, url));
    const dictionary = await bytesOf(await ask(handler, URL_OF_METHOD + queryOf("ja")));
    const hash = createHash("sha256").update(dictionary).digest("base64");
    const headers = { "accept-encoding": "dcz", "available-dictionary": `:${hash}:` };
    const answer = await ask(handler, url, { headers });
    expect(answer.headers.get("content-language")).toBe("de");
    const sent = await bytesOf(answer);
    const isDelta = answer.headers.get("content-encoding") === "dcz";
    expect(isDelta ? zstdDecompressSync(sent.subarray(40), { dictionary }) : sent).toEqual(whole);
  });
});
