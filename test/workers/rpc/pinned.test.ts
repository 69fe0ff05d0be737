import { describe, expect, it } from "vitest";
import { messageSha256 } from "../../../src/parts/manifest.ts";
import { BLOBS_PREFIX, generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { RecordingReader } from "../../builders/recording-reader.ts";
import { aGet, aHandler, aPost, bytesOf, type Subject } from "./requests.ts";

/** A GET of English with the hash of a version. */
function aPinned(hash: string, method = "GET", headers: Record<string, string> = {}): Request {
  const plain = aGet({ method, headers });
  return new Request(`${plain.url}&v=${hash}`, plain);
}

interface Renewed extends Subject {
  readonly old: string;
  readonly renewed: string;
}

/**
 * A service that has published what German is in generation 7 as English of generation 8.
 *
 * @param isKnown whether its isolate has served generation 7.
 */
async function aRenewedService({ isKnown = false } = {}): Promise<Renewed> {
  const reader = new RecordingReader({ generation: 7 });
  const { locales } = reader.manifest;
  const { en, de } = locales;
  if (en === undefined || de === undefined) throw new Error("en and de are not published");
  if (isKnown) await reader.current();
  reader.publish({ generation: 8, locales: { ...locales, en: de } });
  return { ...aHandler({ reader }), old: messageSha256(en), renewed: messageSha256(de) };
}

describe("a GET that names the hash of a version", () => {
  it.each([true, false])(
    "gets that version, which is cacheable for ever; in memory: %s",
    async (holds) => {
      const { handler, reader, old, renewed } = await aRenewedService();
      if (holds) await reader.hold();
      for (const [hash, version] of [
        [renewed, "8"],
        [old, "7"],
      ] as const) {
        const { headers, status } = await handler(aPinned(hash));
        expect(status).toBe(200);
        expect(headers.get("catalog-sha256")).toBe(hash);
        expect(headers.get("catalog-version")).toBe(version);
        expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      }
      const { headers } = await handler(aGet());
      expect(headers.get("catalog-sha256")).toBe(renewed);
      expect(headers.get("cache-control")).toContain("max-age=300");
    },
  );

  it("gets the same bytes as a GET without the hash, and 304 if the client has them", async () => {
    const { handler, renewed } = await aRenewedService();
    const plain = await handler(aGet());
    const pinned = await handler(aPinned(renewed));
    expect(await bytesOf(pinned)).toEqual(await bytesOf(plain));
    const etag = pinned.headers.get("etag") ?? "";
    expect(etag).toBe(plain.headers.get("etag"));
    const known = await handler(aPinned(renewed, "GET", { "if-none-match": etag }));
    expect(known.status).toBe(304);
    expect(known.headers.get("cache-control")).toContain("immutable");
    expect((await handler(aPinned(renewed, "HEAD"))).headers.get("cache-control")).toContain(
      "immutable",
    );
  });

  it.each(["0".repeat(64), "", "latest"])("gets not_found for %j", async (hash) => {
    const { handler } = await aRenewedService();
    const response = await handler(aPinned(hash));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "not_found" });
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  it("gets not_found for a POST as well, instead of another version", async () => {
    const { handler } = await aRenewedService();
    const plain = aPost("application/json");
    const response = await handler(new Request(`${plain.url}?v=${"0".repeat(64)}`, plain));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "not_found" });
  });

  it("gets a version that this isolate did not know", async () => {
    const { handler, reader, renewed } = await aRenewedService();
    const earlier = reader.store.r2.get(generationKey(7));
    reader.store.kv.set(MANIFEST_KEY, earlier ?? new Uint8Array());
    const { headers, status } = await handler(aPinned(renewed));
    expect([status, headers.get("catalog-version")]).toEqual([200, "8"]);
  });

  it("gets unavailable, not not_found, while an older version cannot be read", async () => {
    const { handler, reader } = await aRenewedService();
    reader.store.before = (call) => {
      if (call === `r2 get ${generationKey(7)}`) throw new Error("R2 is away");
    };
    expect((await handler(aPinned("0".repeat(64)))).status).toBe(503);
  });

  it.each([
    ["data_loss if the bytes of a retained version are gone", false, "data_loss"],
    ["not_found if the version has been collected with its bytes", true, "not_found"],
  ])("gets %s, and data_loss for the current one", async (_, isCollected, expected) => {
    const { handler, reader, old, renewed } = await aRenewedService({ isKnown: true });
    for (const replica of [reader.store.kv, reader.store.r2])
      for (const key of replica.keys()) if (key.startsWith(BLOBS_PREFIX)) replica.delete(key);
    if (isCollected) reader.store.r2.delete(generationKey(7));
    const codes = [old, renewed].map(async (hash) => {
      const { code } = await (await handler(aPinned(hash))).json<{ code: string }>();
      return code;
    });
    expect(await Promise.all(codes)).toEqual([expected, "data_loss"]);
  });
});
