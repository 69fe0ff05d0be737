import { beforeEach, describe, expect, it } from "vitest";
import { messageSha256 } from "../../../../src/parts/manifest.ts";
import { blobKey, MANIFEST_KEY } from "../../../../src/storage/keys.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { BackupWorld } from "../../../builders/backup-world.ts";
import { startEachFrom } from "../../../builders/coordinator-world.ts";

const installation = new BackupWorld(undefined, ["en"]);
startEachFrom(installation, () => new AdminWorld(installation).ingest.publishVersions(2));
let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld(installation);
});

const diff = (query: string, headers: { readonly [name: string]: string } = {}) =>
  world.send(`/catalog/diff${query}`, { headers });
const sha256Of = (generation: number) =>
  world.ingest.state.findRetained(generation)?.catalog_sha256 ?? "";
/** Catalog-Sha256 of the answers in English. */
const messageOf = (generation: number) => {
  const { en } = world.ingest.state.findRetained(generation)?.locales ?? {};
  return en === undefined ? "" : messageSha256(en);
};
const blobReads = () =>
  world.store.calls.filter((call) => call.includes(" get catalog/blob/")).length;

const NONE = { counts: { added: 0, changed: 0, removed: 0 }, added: [], changed: [], removed: [] };

describe("GET /catalog/diff", () => {
  it("lists the changes and removals since a version, with the earlier values", async () => {
    world.ingest.setAirports(19);
    await world.ingest.runToEnd({ forced: true });
    const answer = await diff("?from=1&locale=en");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60");
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({
      from: { generation: 1, catalog_sha256: sha256Of(1) },
      to: { generation: 3, catalog_sha256: sha256Of(3) },
      locale: "en",
      airports: {
        counts: { added: 0, changed: 1, removed: 1 },
        changed: [
          { label: "ZRH", before: { name: "Airport 1" }, after: { name: "Zürich Airport" } },
        ],
        removed: [{ name: "Winterthur Airfield 16" }],
      },
      cities: NONE,
    });
    expect(await (await diff(`?from=${sha256Of(1)}`)).text()).toBe(text);
    expect(await (await diff(`?from=${messageOf(1)}`)).text()).toBe(text);
    expect(await (await diff("?from=2")).json()).toMatchObject({
      airports: { changed: [{ before: { name: "Airport 2" } }] },
    });
  });

  it("permits the headers that a script of another origin wants to send, even for an error", async () => {
    const headers = {
      origin: "https://example.com",
      "access-control-request-method": "GET",
      "access-control-request-headers": "if-none-match,traceparent",
    };
    const preflight = await world.send("/catalog/diff?from=1", { method: "OPTIONS", headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("if-none-match,traceparent");
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET,HEAD");
    const wrong = await diff("?from=x");
    expect([wrong.status, wrong.headers.get("access-control-allow-origin")]).toEqual([400, "*"]);
    const nowhere = await world.send("/locations/catalog/diff?from=1");
    expect([nowhere.status, nowhere.headers.get("access-control-allow-origin")]).toEqual([
      404,
      "*",
    ]);
    const posted = await world.send("/catalog/diff", { method: "POST", headers });
    expect([posted.status, posted.headers.get("access-control-allow-origin")]).toEqual([405, "*"]);
    const closed = await world.send("/admin/ingest/runs", { method: "OPTIONS", headers });
    expect(closed.status).not.toBe(204);
    expect(closed.headers.has("access-control-allow-origin")).toBe(false);
  });

  it("lists nothing for the current content, and reads no blob for that", async () => {
    const known = blobReads();
    for (const from of ["2", sha256Of(2), messageOf(2)]) {
      const version = { generation: 2, catalog_sha256: sha256Of(2) };
      const body = await (await diff(`?from=${from}`)).json();
      const lists = { airports: NONE, cities: NONE, countries: NONE, regions: NONE };
      expect(body).toMatchObject({ from: version, to: version, locale: "en", ...lists });
    }
    expect(blobReads()).toBe(known);
  });

  it("answers 304 to those who have the diff, and reads no blob for that", async () => {
    const etag = (await diff("?from=1")).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    const known = blobReads();
    for (const named of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await diff("?from=1", { "if-none-match": named });
      expect(again.status).toBe(304);
      expect(again.headers.get("etag")).toBe(etag);
      expect(await again.text()).toBe("");
    }
    expect(blobReads()).toBe(known);
    expect((await diff("?from=1", { "if-none-match": '"other"' })).status).toBe(200);
    expect((await diff("?from=2")).headers.get("etag")).not.toBe(etag);
    await world.ingest.publishVersions(1);
    expect((await diff("?from=1")).headers.get("etag")).not.toBe(etag);
  });

  it("answers in the locale in which it would serve the catalog", async () => {
    world.ingest.locales = ["de", "en"];
    world.ingest.crash();
    await world.ingest.publishVersions(2);
    const answerTo = async (query: string): Promise<unknown> => (await diff(query)).json();
    for (const [tag, locale] of [
      ["de", "de"],
      ["de-AT", "de"],
      ["de_at", "de"],
      ["fr", "en"],
      ["", "en"],
    ] as const)
      expect(await answerTo(`?from=3&locale=${tag}`)).toMatchObject({ locale });
    // Generation 2 has no German.
    expect((await diff("?from=2&locale=en")).status).toBe(200);
    const missing = { status: 404, code: "changes_not_stored" };
    expect(await answerTo("?from=2&locale=de")).toMatchObject(missing);
  });

  it("reads a diff from R2 if KV has lost or damaged it, and answers 404 if neither has it", async () => {
    const text = await (await diff("?from=1")).text();
    const { common = "", local = {} } = world.ingest.current()?.diffs[0] ?? {};
    world.store.kv.delete(blobKey(common));
    world.store.kv.set(blobKey(local["en"] ?? ""), Uint8Array.of(1));
    expect(await (await diff("?from=1")).text()).toBe(text);
    world.store.r2.delete(blobKey(common));
    expect(await (await diff("?from=1")).json()).toMatchObject({
      status: 404,
      code: "changes_not_stored",
    });
  });

  it("answers 503 while the stores do not answer", async () => {
    world.store.before = (call) => {
      if (call.includes(" get catalog/blob/")) throw new Error("the stores are down");
    };
    for (const isDown of [false, true]) {
      if (isDown) world.store.before = () => Promise.reject(new Error("the stores are down"));
      const answer = await diff("?from=1");
      expect(answer.headers.get("retry-after")).toBe("10");
      expect(await answer.json()).toMatchObject({ status: 503, code: "catalog_unreadable" });
    }
  });

  it("answers 503, not 404, while the version of a hash cannot be read", async () => {
    await diff("?from=2");
    world.store.before = (call) => {
      if (call.includes("catalog/manifests/")) throw new Error("R2 is down");
    };
    expect((await diff(`?from=${"0".repeat(64)}`)).status).toBe(503);
  });

  it.each(["3", "999999999", "0".repeat(64)])(
    "answers 404 without a diff from %s",
    async (from) => {
      const detail = `${from} is not one of the retained versions. Fetch the whole catalog.`;
      const problem = { status: 404, code: "generation_not_retained", detail };
      expect(await (await diff(`?from=${from}`)).json()).toMatchObject(problem);
    },
  );

  it("says that a hash belongs to another language", async () => {
    world.ingest.locales = ["de", "en"];
    world.ingest.crash();
    await world.ingest.publishVersions(2);
    const problem = { status: 404, code: "locale_mismatch" };
    for (const generation of [3, 4])
      expect(await (await diff(`?from=${messageOf(generation)}&locale=de`)).json()).toMatchObject(
        problem,
      );
  });

  it("leads to a newer version than this isolate knows if the client already has it", async () => {
    const { store } = world;
    const known = [store.kv, store.r2].map((replica) => replica.get(MANIFEST_KEY));
    await world.ingest.publishVersions(1);
    const newer = store.r2.get(MANIFEST_KEY);
    for (const [index, replica] of [store.kv, store.r2].entries())
      replica.set(MANIFEST_KEY, known[index] ?? Uint8Array.of());
    expect(await (await diff("?from=1")).json()).toMatchObject({ to: { generation: 2 } });
    store.r2.set(MANIFEST_KEY, newer ?? Uint8Array.of());
    for (const from of ["3", sha256Of(3), messageOf(3)])
      expect(await (await diff(`?from=${from}`)).json()).toMatchObject({ to: { generation: 3 } });
  });

  it("leads after a rollback to the version that is published again", async () => {
    await world.ingest.publishVersions(1);
    await world.post("/admin/catalog/rollback", { generation: 2 });
    await world.ingest.drain();
    expect(await (await diff("?from=1")).json()).toMatchObject({
      to: { generation: 4, catalog_sha256: sha256Of(2) },
      airports: { changed: [{ after: { name: "Airport 2" } }] },
    });
    expect(await (await diff(`?from=${sha256Of(2)}`)).json()).toMatchObject({ airports: NONE });
    expect((await diff("?from=3")).status).toBe(404);
  });
});
