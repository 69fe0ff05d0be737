import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import notice from "../../../data/NOTICE.md";
import { createCatalogStore } from "../../../src/storage/catalog-store.ts";
import { AdminWorld } from "../../builders/admin-world.ts";
import { aLocaleEntry, aManifest } from "../../builders/manifest.ts";

const get = (path: string) => exports.default.fetch(`https://locations.test${path}`);

describe("GET /catalog/health", () => {
  it("is 503 until something is published, and 200 from then on", async () => {
    const before = await get("/catalog/health");
    expect(before.status).toBe(503);
    expect(before.headers.get("content-type")).toBe("application/health+json");
    expect(await before.json()).toEqual({
      status: "fail",
      output: "nothing is published yet; queue an ingest",
    });

    await createCatalogStore(env.CATALOG, env.ARCHIVE).writeManifest(aManifest());
    await expect
      .poll(async () => (await get("/catalog/health")).status, { timeout: 5_000 })
      .toBe(200);
  });

  it("says which version is served, how old it is, and what is in it", async () => {
    const world = new AdminWorld();
    const manifest = aManifest({ generation: 7, locales: { de: aLocaleEntry({ coverage: 0.9 }) } });
    world.current = { ok: true, manifest };
    world.time = Date.parse(manifest.published_at) + 90_000;
    const answer = await world.request("/catalog/health");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await answer.json()).toEqual({
      status: "pass",
      version: "7",
      catalog_sha256: manifest.catalog_sha256,
      published_at: manifest.published_at,
      counts: manifest.counts,
      locales: [
        {
          locale: "de",
          bytes: 100,
          coverage: 0.9,
        },
      ],
      checks: {
        "catalog:age": [
          {
            status: "pass",
            observedValue: 90,
            observedUnit: "s",
          },
        ],
      },
    });
  });

  it("is 503 while the stores do not answer", async () => {
    const world = new AdminWorld();
    world.current = { ok: false, reason: "unavailable" };
    const answer = await world.request("/catalog/health");
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ status: "fail", output: "the stores do not answer" });
  });

  it("needs no token", async () => {
    const world = new AdminWorld();
    world.tokens = [];
    expect((await world.request("/catalog/health")).status).toBe(503);
  });
});

describe("GET /credits", () => {
  it("gives the notice that the data's licences ask for", async () => {
    const answer = await get("/credits");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    const text = await answer.text();
    expect(text).toBe(notice);
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
    const answer = await exports.default.fetch("https://locations.test/x", {
      headers: { "x-request-id": "forged" },
    });
    expect(await answer.text()).not.toContain("forged");
  });
});
