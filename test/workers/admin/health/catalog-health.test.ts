import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import notice from "../../../../data/NOTICE.md";
import type { Manifest } from "../../../../src/catalog/manifest.ts";
import type { OpenResult, Selection } from "../../../../src/storage/catalog-reader.ts";
import { createCatalogStore } from "../../../../src/storage/catalog-store.ts";
import { OPERATOR_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld, type Json } from "../../../builders/admin-world.ts";
import { DEFAULT_LIMITS } from "../../../builders/facts.ts";
import { checkedFetch } from "../../checked-fetch.ts";
import { aLocaleEntry, aManifest, aVersion } from "../../../builders/manifest.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

/** What a reader gives that has the bytes of one version. */
function opens({ locale, representation }: Selection, manifest: Manifest): OpenResult {
  const entry = manifest.locales[locale];
  const body = entry?.bodies[representation].identity;
  if (entry === undefined || body === undefined) return { ok: false, reason: "data_loss" };
  const content = new Blob();
  return {
    ok: true,
    opened: { manifest, locale, entry, representation, coding: "identity", body, content },
  };
}

/** Lays a version into the real stores. */
async function publish(): Promise<void> {
  const store = createCatalogStore(env.CATALOG, env.ARCHIVE);
  const { manifest, blobs } = aVersion(1, "hello");
  for (const [sha256, bytes] of blobs) await store.writeBlob(sha256, bytes);
  await store.writeManifest(manifest);
}

const get = (path: string) => checkedFetch(path);

describe("GET /catalog/health", () => {
  it("is 503 until something is published, and 200 from then on", async () => {
    const before = await get("/catalog/health");
    expect(before.status).toBe(503);
    expect(before.headers.get("content-type")).toBe("application/health+json");
    const output = "nothing is published yet; queue an ingest";
    expect(await before.json()).toEqual({
      status: "fail",
      output,
      checks: { "catalog:present": [{ status: "fail", output }] },
    });

    await publish();
    await expect.poll(async () => (await get("/catalog/health")).status).toBe(200);
  });

  it("says which version is served, how old it is, and what is in it", async () => {
    const entry = aLocaleEntry({ coverage: 0.9 });
    const manifest = aManifest({ generation: 7, locales: { en: entry } });
    world.current = { ok: true, manifest };
    world.open = (selection) => opens(selection, manifest);
    world.time = Date.parse(manifest.published_at) + 90_000;
    const answer = await world.request("/catalog/health");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("content-type")).toBe("application/health+json");
    expect(await answer.json()).toEqual({
      status: "pass",
      version: "7",
      catalog_sha256: manifest.catalog_sha256,
      published_at: manifest.published_at,
      as_of: "2026-10-20",
      data: [{ name: "OurAirports: airports", as_of: "2026-10-20" }],
      airports: "all",
      counts: manifest.counts,
      locales: [{ locale: "en", bytes: entry.bytes, coverage: 0.9 }],
      checks: {
        "catalog:present": [{ status: "pass", observedValue: 7 }],
        "catalog:age": [{ status: "pass", observedValue: 90, observedUnit: "s" }],
        "data:age": [{ status: "pass", observedValue: 12, observedUnit: "d" }],
        "catalog:integrity": [
          { status: "pass", observedValue: entry.bodies.proto.identity?.sha256 },
        ],
        "catalog:counts": [{ status: "pass", observedValue: 2, observedUnit: "airports" }],
        "catalog:locales": [{ status: "pass", observedValue: 1 }],
      },
    });
  });

  it.each([
    [{ as_of: "2025-10-20" }, 0, "pass", undefined],
    [{ as_of: "2025-10-20" }, 1, "warn", "data:age: The airports are of 2025-10-20, 730 d ago."],
    [
      { as_of: null },
      0,
      "warn",
      "data:age: Cannot be known: generation 1 does not say how old its data is.",
    ],
  ] as const)(
    "warns of old data, however new the version: %j, %s ms",
    async (of, ms, status, output) => {
      const manifest = aManifest(of);
      world.current = { ok: true, manifest };
      world.open = (selection) => opens(selection, manifest);
      world.time = Date.parse("2025-10-20") + DEFAULT_LIMITS.dataOldMs - 1 + ms;
      const answer = await world.request("/catalog/health");
      expect(answer.status).toBe(200);
      const { output: said, ...health } = await answer.json<Json>();
      expect(health).toMatchObject({ status });
      expect(said).toBe(output);
    },
  );

  it("warns while an earlier version has to be served", async () => {
    const earlier = aManifest({ generation: 6 });
    world.current = { ok: true, manifest: aManifest({ generation: 7 }) };
    world.open = (selection) => opens(selection, earlier);
    const answer = await world.request("/catalog/health");
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      status: "warn",
      output: "catalog:integrity: generation 6 is served, because 7 cannot be read",
    });
  });

  it.each([
    ["unavailable", "the stores do not answer"],
    ["data_loss", "every copy of a body is damaged"],
  ] as const)("is 503 while no body can be read: %s", async (reason, output) => {
    world.current = { ok: true, manifest: aManifest() };
    world.open = () => ({ ok: false, reason });
    const answer = await world.request("/catalog/health");
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      status: "fail",
      version: "1",
      output: expect.stringContaining(output),
    });
  });

  it("is 503 with a list that is empty, or without the default locale", async () => {
    const counts = { airports: 2, cities: 0, countries: 2, regions: 0 };
    const manifest = aManifest({ counts, locales: { de: aLocaleEntry() } });
    world.current = { ok: true, manifest };
    world.open = (selection) => opens({ ...selection, locale: "de" }, manifest);
    const answer = await world.request("/catalog/health");
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      checks: {
        "catalog:counts": [{ status: "fail", output: "no cities, no regions" }],
        "catalog:locales": [{ status: "fail", output: "the default locale en is not published" }],
      },
    });
  });

  it("is 503 while the stores do not answer", async () => {
    world.current = { ok: false, reason: "unavailable" };
    const answer = await world.request("/catalog/health");
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      status: "fail",
      output: "the stores do not answer",
    });
  });

  it("answers while the coordinator and D1 are down", async () => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    await publish();
    await expect.poll(async () => (await get("/catalog/health")).status).toBe(200);
    const down = () => {
      throw new Error("down");
    };
    vi.spyOn(env.HISTORY, "prepare").mockImplementation(down);
    vi.spyOn(env.HISTORY, "batch").mockImplementation(down);
    vi.spyOn(env.COORDINATOR, "getByName").mockImplementation(down);
    try {
      expect((await checkedFetch("/admin/ingest/runs", { headers })).status).toBe(503);
      expect((await checkedFetch("/admin/catalog/versions", { headers })).status).toBe(503);
      const answer = await get("/catalog/health");
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ status: "pass", version: "1" });
    } finally {
      vi.restoreAllMocks();
    }
  });

  it("says in the log alone why the catalog cannot be looked at", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    world.current = { ok: true, manifest: aManifest() };
    world.open = () => {
      throw new Error("no body", { cause: "KV is away" });
    };
    try {
      const answer = await world.request("/catalog/health");
      expect(answer.status).toBe(503);
      expect(await answer.text()).not.toContain("KV is away");
      const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)));
      expect(lines.filter(({ event }) => event === "catalog_unreadable")).toMatchObject([
        { level: "warn", error: "Error: no body", causes: ["KV is away"] },
      ]);
    } finally {
      log.mockRestore();
    }
  });

  it("takes GET and HEAD only, and says so", async () => {
    const answer = await world.request("/catalog/health", { method: "POST" });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
    expect((await world.request("/catalog/health", { method: "HEAD" })).status).toBe(503);
  });

  it("names a parameter that it does not know", async () => {
    const answer = await world.request("/catalog/health?verbose=1");
    expect(await answer.json()).toMatchObject({
      status: 400,
      detail: 'unknown parameter "verbose"',
    });
  });

  it("needs no token", async () => {
    const manifest = aManifest();
    world.current = { ok: true, manifest };
    world.open = (selection) => opens(selection, manifest);
    world.credentials = { ok: true, credentials: { tokens: [], access: null } };
    expect((await world.send("/catalog/health")).status).toBe(200);
  });
});

describe("GET /credits", () => {
  it("gives the notice that the data's licences ask for", async () => {
    const answer = await get("/credits");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    const text = await answer.text();
    expect(text).toBe(notice);
    const refused = await checkedFetch("/credits", { method: "POST" });
    expect(refused.status).toBe(405);
    expect(refused.headers.get("allow")).toBe("GET, HEAD");
    expect((await get("/credits?lang=de")).status).toBe(400);
    for (const source of ["OurAirports", "GeoNames", "CC BY 4.0", "OpenTravelData", "CLDR"])
      expect(text).toContain(source);
  });
});

describe("any other path", () => {
  it("is 404, as a problem with the request's id", async () => {
    const answer = await get("/no/such/path");
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({
      status: 404,
      code: "not_found",
      detail: "There is nothing at /no/such/path.",
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it("does not take the request's id from the request", async () => {
    const answer = await checkedFetch("/x", {
      headers: { "x-request-id": "forged" },
    });
    expect(await answer.text()).not.toContain("forged");
  });
});
