import { createHash } from "node:crypto";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { LocationsService } from "../../../gen/locations/v1/locations_pb.ts";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import type { Manifest } from "../../../src/catalog/manifest.ts";
import { rolledBack } from "../../../src/coordinator/versions.ts";
import { createRpcHandler } from "../../../src/rpc/handler.ts";
import { readHead } from "../../../src/rpc/request.ts";
import { blobKey } from "../../../src/storage/keys.ts";
import { CachedCatalogReader } from "../../../src/storage/cached-catalog-reader.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot, moreAirports } from "../../builders/small-snapshot.ts";

const CHROMIUM = "gzip, deflate, br, zstd, dcb, dcz";
const QUERY = { proto: "encoding=proto&message=%0A%02", json: "encoding=json&message=" };
const world = new PipelineWorld(["de", "en"]);
/** Each version, oldest first. */
const versions: Manifest[] = [];
/** The ones after these: an airport has come, and then gone. */
const changed: Manifest[] = [];

beforeAll(async () => {
  const airports = moreAirports(60);
  for (const name of ["A", "B", "C", "D", "E"]) {
    world.snapshot = aSnapshot({
      airports: airports.map((row, index) => (index === 30 ? { ...row, name } : row)),
    });
    world.forced = true;
    await world.runToEnd();
    if (world.current !== null) versions.push(world.current);
  }
  for (const count of [61, 59]) {
    world.snapshot = aSnapshot({ airports: moreAirports(count) });
    await world.runToEnd();
    if (world.current !== null) changed.push(world.current);
  }
});

type Form = keyof typeof QUERY;

interface Asked {
  readonly form?: Form;
  readonly locale?: string;
  readonly method?: string;
  readonly query?: string;
  readonly body?: string;
  readonly headers?: { readonly [name: string]: string };
}

/** Asks a new isolate after a version. */
async function ask(
  manifest: Manifest | undefined,
  asked: Asked = {},
  { store } = world,
): Promise<Response> {
  const { form = "json", locale = "en", method = "GET", query = "", body, headers = {} } = asked;
  if (manifest === undefined) throw new Error("no such version");
  await store.writeManifest(manifest);
  const handler = createRpcHandler({
    reader: new CachedCatalogReader({
      store,
      now: Date.now,
      waitUntil: () => {},
      report: () => {},
      createPipe: () => new TransformStream(),
      manifestFreshMs: 30_000,
      cacheMaxBytes: 10_000_000,
    }),
    defaultLocale: "en",
    log: (_message, cause) => {
      throw cause;
    },
  });
  const message =
    form === "json" ? encodeURIComponent(JSON.stringify({ locale })) : encodeURIComponent(locale);
  const path = `/${LocationsService.typeName}/GetLocationsV1`;
  const search = body === undefined ? `?connect=v1&${QUERY[form]}${message}${query}` : "";
  const url = `http://localhost${path}${search}`;
  const request = new Request(url, { method, headers, body: body ?? null });
  return handler(request, readHead(request));
}

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

/** What a client without a dictionary receives, uncompressed. */
async function wholeOf(
  manifest: Manifest | undefined,
  asked: Asked = {},
  of = world,
): Promise<Buffer> {
  return bytesOf(await ask(manifest, asked, of));
}

function having(dictionary: Buffer, more = {}): NonNullable<Asked["headers"]> {
  const hash = createHash("sha256").update(dictionary).digest("base64");
  return { "accept-encoding": CHROMIUM, "available-dictionary": `:${hash}:`, ...more };
}

const decodeDcz = (sent: Buffer, dictionary: Buffer) =>
  zstdDecompressSync(sent.subarray(40), { dictionary });

describe.each(["proto", "json"] as const)("a client with a dictionary, in %s", (form) => {
  it.each([1, 2, 3, 4])(
    "receives a delta from any of the last three contents, and the whole from older ones: content %i",
    async (at) => {
      const [dictionary, whole] = [
        await wholeOf(versions[at - 1], { form }),
        await wholeOf(versions[4], { form }),
      ];
      const response = await ask(versions[4], { form, headers: having(dictionary) });
      const sent = await bytesOf(response);
      expect(response.headers.get("vary")).toBe("Accept-Encoding, Available-Dictionary");
      expect(response.headers.get("content-type")).toBe(`application/${form}`);
      const coding = response.headers.get("content-encoding");
      expect(coding).toBe(at === 1 ? "gzip" : "dcz");
      expect(coding === "dcz" ? decodeDcz(sent, dictionary) : gunzipSync(sent)).toEqual(whole);
      expect(response.headers.has("repr-digest")).toBe(coding !== "dcz");
      expect(sent.length < 200).toBe(coding === "dcz");
      const stored = versions[4]?.diffs
        .map(({ deltas }) => deltas?.locales["en"]?.[form])
        .find((delta) => delta?.dictionary === sha256Hex(dictionary));
      expect(coding === "dcz" ? sent.length : undefined).toBe(stored?.bytes);
    },
  );

  it.each([2, 3, 4, 5])("receives another locale by its body of content %i", async (at) => {
    const dictionary = await wholeOf(versions[at - 1], { form, locale: "de" });
    const asked = { form, headers: having(dictionary) };
    const response = await ask(versions[4], asked);
    const sent = await bytesOf(response);
    expect(response.headers.get("content-encoding")).toBe("dcz");
    expect(response.headers.get("content-language")).toBe("en");
    expect(decodeDcz(sent, dictionary)).toEqual(await wholeOf(versions[4], { form }));
  });

  it.each([
    ["came", () => versions[4], () => changed[0]],
    ["went", () => changed[0], () => changed[1]],
    ["came and another went", () => versions[4], () => changed[1]],
  ])("receives either language by its body from before an airport %s", async (_, from, to) => {
    const dictionary = await wholeOf(from(), { form, locale: "de" });
    for (const locale of ["de", "en"]) {
      const answer = await ask(to(), { form, locale, headers: having(dictionary) });
      expect(answer.headers.get("content-encoding")).toBe("dcz");
      expect(decodeDcz(await bytesOf(answer), dictionary)).toEqual(
        await wholeOf(to(), { form, locale }),
      );
    }
  });

  it("learns the size by HEAD, and receives the same bytes if it pins the version", async () => {
    const asked = { form, headers: having(await wholeOf(versions[3], { form })) };
    const sent = await bytesOf(await ask(versions[4], asked));
    const { headers } = await ask(versions[4], { ...asked, method: "HEAD" });
    expect(headers.get("content-encoding")).toBe("dcz");
    expect(headers.get("content-length")).toBe(String(sent.length));
    const query = `&v=${headers.get("catalog-sha256")}`;
    const pinned = await ask(versions[4], { ...asked, query });
    expect(pinned.headers.get("cache-control")).toContain("immutable");
    expect(await bytesOf(pinned)).toEqual(sent);
  });

  it("receives the usual body if If-Match names its tag", async () => {
    const dictionary = await wholeOf(versions[3], { form });
    const usual = await ask(versions[4], { form, headers: { "accept-encoding": CHROMIUM } });
    const tag = usual.headers.get("etag");
    const headers = having(dictionary, { "if-match": tag });
    const response = await ask(versions[4], { form, headers });
    expect(response.status).toBe(200);
    expect(response.headers.get("etag")).toBe(tag);
  });

  it("receives 304 if it names a tag of the version", async () => {
    const dictionary = await wholeOf(versions[3], { form });
    const headers = having(dictionary);
    const tag = (await ask(versions[4], { form, headers })).headers.get("etag") ?? "";
    const usual = await ask(versions[4], { form, headers: { "accept-encoding": CHROMIUM } });
    for (const known of [tag, usual.headers.get("etag") ?? ""]) {
      const asked = { form, headers: { ...headers, "if-none-match": known } };
      const response = await ask(versions[4], asked);
      expect(response.status).toBe(304);
      expect(response.headers.get("etag")).toBe(known);
    }
    expect(tag).not.toBe(usual.headers.get("etag"));
  });

  it("receives 304 if a delta has given it the current content", async () => {
    const older = await wholeOf(versions[3], { form });
    const whole = await wholeOf(versions[4], { form });
    const first = await ask(versions[4], { form, headers: having(older) });
    const tag = first.headers.get("etag") ?? "";
    const named = { "if-none-match": tag };
    const lost = { "accept-encoding": CHROMIUM, ...named };
    for (const headers of [having(whole, named), having(older, named), lost]) {
      const again = await ask(versions[4], { form, headers });
      expect(again.status).toBe(304);
      expect(again.headers.get("etag")).toBe(tag);
      expect(again.headers.get("content-encoding")).toBe("dcz");
      expect((await ask(versions[3], { form, headers })).status).toBe(200);
    }
  });
});

describe("the body without a delta", () => {
  it.each([
    ["no dictionary", { "available-dictionary": "" }],
    ["a malformed dictionary", { "available-dictionary": "x" }],
    ["an unknown dictionary", { "available-dictionary": `:${"A".repeat(43)}=:` }],
    ["no dcz", { "accept-encoding": "gzip, br, zstd, *" }],
    ["a refused dcz", { "accept-encoding": "gzip, dcz;q=0" }],
  ])("goes to a client with %s", async (_, changes) => {
    const headers = { ...having(await wholeOf(versions[3])), ...changes };
    const response = await ask(versions[4], { headers });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await bytesOf(response))).toEqual(await wholeOf(versions[4]));
  });

  it("goes to a client with the dictionary of a version that was rolled back", async () => {
    const [, , older, , newest] = versions;
    if (older === undefined || newest === undefined) throw new Error("five were published");
    const current = rolledBack(older, newest, "2026-11-02T00:00:00.000Z");
    const asked = { headers: having(await wholeOf(newest)) };
    const response = await ask(current, asked);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await bytesOf(response))).toEqual(await wholeOf(older));
    const still = await ask(current, { headers: having(await wholeOf(versions[1])) });
    expect(still.headers.get("content-encoding")).toBe("dcz");
  });

  it.each([
    ["delta", "en", () => versions[4]?.diffs[0]?.deltas?.blob],
    ["own part", "de", () => versions[4]?.locales["en"]?.own.json?.blob],
  ])("goes to a client whose %s the stores have lost", async (_, locale, findBlob) => {
    const key = blobKey(findBlob() ?? "");
    const { kv, r2 } = world.store;
    const stored = [kv, r2].map((replica) => [replica, replica.get(key)] as const);
    const headers = having(await wholeOf(versions[3], { locale }));
    const whole = await wholeOf(versions[4]);
    for (const [replica] of stored) expect(replica.delete(key)).toBe(true);
    const response = await ask(versions[4], { headers });
    for (const [replica, bytes] of stored) if (bytes !== undefined) replica.set(key, bytes);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await bytesOf(response))).toEqual(whole);
  });

  it("goes to a client with another language of a catalog so small that a delta is not shorter", async () => {
    const tiny = new PipelineWorld(["de", "en"]);
    await tiny.runToEnd();
    const current = tiny.current ?? undefined;
    for (const form of ["proto", "json"] as const) {
      const dictionary = await wholeOf(current, { form, locale: "de" }, tiny);
      const whole = await wholeOf(current, { form }, tiny);
      const answer = await ask(current, { form, headers: having(dictionary) }, tiny);
      const sent = await bytesOf(answer);
      const isDelta = answer.headers.get("content-encoding") === "dcz";
      expect(isDelta ? decodeDcz(sent, dictionary) : gunzipSync(sent)).toEqual(whole);
      const usual = await ask(current, { form, headers: { "accept-encoding": CHROMIUM } }, tiny);
      expect(sent.length).toBeLessThanOrEqual((await bytesOf(usual)).length);
    }
  });

  it("answers every POST", async () => {
    const headers = having(await wholeOf(versions[3]), { "content-type": "application/json" });
    const response = await ask(versions[4], { method: "POST", body: '{"locale":"en"}', headers });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect(response.headers.has("use-as-dictionary")).toBe(false);
  });
});

describe("Use-As-Dictionary", () => {
  it("matches the query of the request with any message, without a pinned version", async () => {
    const { headers } = await ask(versions[4]);
    expect(headers.get("use-as-dictionary")).toBe('match="?connect=v1&encoding=json&message=*"');
    const pin = headers.get("catalog-sha256") ?? "";
    const pinned = await ask(versions[4], { query: `&v=${pin}` });
    expect(pinned.status).toBe(200);
    expect(pinned.headers.has("use-as-dictionary")).toBe(false);
  });

  it("stays away for a long query", async () => {
    const { headers } = await ask(versions[4], { query: `&x=${"y".repeat(600)}` });
    expect(headers.has("use-as-dictionary")).toBe(false);
  });

  it.each(['&message={"locale":"fr"}', String.raw`&x=*:(){}+?\'`, "&x=a:b:c", "&x=%3A"])(
    "holds a pattern that URLPattern takes, and that matches the query in every locale: %s",
    async (query) => {
      const { headers } = await ask(versions[4], { query });
      const [, sent = ""] = /^match="(.*)"$/.exec(headers.get("use-as-dictionary") ?? "") ?? [];
      const message = encodeURIComponent('{"locale":"en"}');
      const { url } = new Request(`http://localhost/a?connect=v1&${QUERY.json}${message}${query}`);
      // The header is a string of structured fields, in which a backslash escapes.
      const pattern = new URLPattern(sent.replaceAll(/\\(.)/g, "$1"), url);
      expect(pattern.hasRegExpGroups).toBe(false);
      expect(pattern.test(url)).toBe(true);
      expect(pattern.test(url.replace("en%22%7D", "fr%22%7D"))).toBe(true);
      expect(pattern.test(url.replace("encoding=json", "encoding=proto"))).toBe(false);
    },
  );

  it("goes out with HEAD, but not with 304, whose cache has it", async () => {
    expect((await ask(versions[4], { method: "HEAD" })).headers.has("use-as-dictionary")).toBe(
      true,
    );
    const known = await ask(versions[4], { headers: { "if-none-match": "*" } });
    expect(known.status).toBe(304);
    expect(known.headers.has("use-as-dictionary")).toBe(false);
  });
});
