import { brotliDecompressSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import type { PackedNames } from "../../../../src/catalog/packed-names.ts";
import { messageSha256 } from "../../../../src/parts/manifest.ts";
import { namesSchema } from "../../../../src/schemas/names.ts";
import { blobKey, MANIFEST_KEY } from "../../../../src/storage/keys.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { BackupWorld } from "../../../builders/backup-world.ts";
import { startEachFrom } from "../../../builders/coordinator-world.ts";

const installation = new BackupWorld(undefined, ["de", "en"]);
startEachFrom(installation, () => new AdminWorld(installation).ingest.publishVersions(2));
let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld(installation);
});

/** Catalog-Sha256 of the answers in a locale. */
const messageOf = (generation: number, locale = "de") => {
  const entry = world.ingest.state.findRetained(generation)?.locales[locale];
  return entry === undefined ? "" : messageSha256(entry);
};
const namesOf = (generation: number, locale = "de") =>
  world.ingest.state.findRetained(generation)?.locales[locale]?.names?.sha256 ?? "";
const names = (query: string, headers: { readonly [name: string]: string } = {}) =>
  world.send(`/catalog/names${query}`, { headers });
const blobReads = () =>
  world.store.calls.filter((call) => call.includes(" get catalog/blob/")).length;

async function bytesOf(answer: Response): Promise<Buffer> {
  return Buffer.from(await answer.arrayBuffer());
}

describe("GET /catalog/names", () => {
  it("answers with the names of a retained version in a locale, in brotli as they are stored", async () => {
    for (const generation of [1, 2]) {
      const query = `?locale=de-AT&v=${messageOf(generation)}`;
      const answer = await names(query, { "accept-encoding": "gzip, br" });
      expect(answer.status).toBe(200);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        "content-type": "application/json",
        "content-encoding": "br",
        "content-language": "de",
        "cache-control": "public, max-age=31536000, immutable",
        "access-control-allow-origin": "*",
        vary: "Accept-Encoding",
      });
      const sent = await bytesOf(answer);
      expect(sent).toEqual(Buffer.from(world.store.kv.get(blobKey(namesOf(generation))) ?? ""));
      const found: PackedNames = JSON.parse(brotliDecompressSync(sent).toString());
      expect(namesSchema.parse(found)).toEqual(found);
      expect(found.names).toContain("Genf");
    }
  });

  it("answers without a coding a client that does not take brotli", async () => {
    const query = `?locale=de&v=${messageOf(2)}`;
    const coded = await bytesOf(await names(query, { "accept-encoding": "br" }));
    for (const accepted of ["gzip", "identity", "br;q=0", "gzip, br;q=0.5"]) {
      const answer = await names(query, { "accept-encoding": accepted });
      expect(answer.headers.has("content-encoding")).toBe(false);
      expect(await bytesOf(answer)).toEqual(brotliDecompressSync(coded));
    }
  });

  it("answers 304 to those who have the names, and reads no blob for that", async () => {
    const query = `?locale=de&v=${messageOf(2)}`;
    const etag = (await names(query)).headers.get("etag") ?? "";
    const known = blobReads();
    for (const given of [etag, etag.slice(2), `"x", ${etag}`, ` ${etag.slice(2)}, "x"`, "*"]) {
      const again = await names(query, { "if-none-match": given });
      expect([again.status, again.headers.get("etag")], given).toEqual([304, etag]);
      expect(await again.text()).toBe("");
    }
    expect(blobReads()).toBe(known);
    expect((await names(`?locale=en&v=${messageOf(2, "en")}`)).headers.get("etag")).not.toBe(etag);
  });

  it("finds a newer version than this isolate knows", async () => {
    const { store } = world;
    const replicas = [store.kv, store.r2];
    const known = replicas.map((replica) => replica.get(MANIFEST_KEY));
    await world.ingest.publishVersions(1);
    const newer = store.r2.get(MANIFEST_KEY);
    for (const [index, replica] of replicas.entries())
      replica.set(MANIFEST_KEY, known[index] ?? Uint8Array.of());
    expect((await names(`?locale=de&v=${messageOf(2)}`)).status).toBe(200);
    store.r2.set(MANIFEST_KEY, newer ?? Uint8Array.of());
    expect((await names(`?locale=de&v=${messageOf(3)}`)).status).toBe(200);
  });

  it.each([
    ["no version", () => `?locale=de&v=${"0".repeat(64)}`],
    ["another language", () => `?locale=en&v=${messageOf(2)}`],
    ["the default language", () => `?v=${messageOf(2)}`],
  ])("answers 404 to the hash of %s", async (_, query) => {
    expect(await (await names(query())).json()).toMatchObject({
      status: 404,
      code: "version_not_retained",
      detail: "No retained version has this hash in this locale. Fetch the whole catalog.",
    });
  });

  it("reads the names from R2 if KV has lost or damaged them, and answers 404 if neither has them", async () => {
    const query = `?locale=de&v=${messageOf(2)}`;
    const { kv, r2 } = world.store;
    const key = blobKey(namesOf(2));
    kv.set(key, Uint8Array.of(1));
    expect((await names(query)).status).toBe(200);
    world = new AdminWorld(installation);
    kv.delete(key);
    r2.delete(key);
    const problem = { status: 404, code: "names_not_stored" };
    expect(await (await names(query)).json()).toMatchObject(problem);
  });

  it("answers 503 while the stores do not answer", async () => {
    const query = `?locale=de&v=${messageOf(2)}`;
    world.store.before = (call) => {
      if (call.includes(" get catalog/blob/")) throw new Error("the stores are down");
    };
    for (const isDown of [false, true]) {
      if (isDown) world.store.before = () => Promise.reject(new Error("the stores are down"));
      const answer = await names(query);
      expect(answer.headers.get("retry-after")).toBe("10");
      expect(await answer.json()).toMatchObject({ status: 503, code: "catalog_unreadable" });
    }
  });
});
