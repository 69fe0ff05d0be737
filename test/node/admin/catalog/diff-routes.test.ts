import { beforeEach, describe, expect, it } from "vitest";
import { AdminWorld } from "../../../builders/admin-world.ts";

let world: AdminWorld;

beforeEach(async () => {
  world = new AdminWorld();
  await world.ingest.publishVersions(2);
});

const diff = (query: string, headers: { readonly [name: string]: string } = {}) =>
  world.send(`/catalog/diff${query}`, { headers });

describe("GET /catalog/diff", () => {
  it("says what was changed and removed, with what was so before, to everybody", async () => {
    world.ingest.setAirports(19);
    await world.ingest.runToEnd({ forced: true });
    const answer = await diff("?from=1&to=3");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toMatch(/^public, max-age=/);
    const name = "Zürich Airport";
    expect(await answer.json()).toMatchObject({
      from: { generation: 1 },
      to: { generation: 3 },
      locale: "en",
      airports: {
        counts: { added: 0, changed: 1, removed: 1 },
        changed: [{ label: "ZRH", before: { name: "Airport 1" }, after: { name } }],
        removed: [{ name: "Winterthur Airfield 16" }],
      },
      cities: { counts: { added: 0, changed: 0, removed: 0 } },
    });
    expect(await (await diff("?from=3&to=1")).json()).toMatchObject({
      airports: {
        counts: { added: 1, changed: 1, removed: 0 },
        changed: [{ before: { name }, after: { name: "Airport 1" } }],
      },
    });
  });

  it("says nothing of a version and itself", async () => {
    expect(await (await diff("?from=2&to=2")).json()).toMatchObject({
      airports: { counts: { added: 0, changed: 0, removed: 0 } },
    });
  });

  it("is not sent again to those who have it", async () => {
    const first = await diff("?from=1&to=2");
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await diff("?from=1&to=2", { "if-none-match": known });
      expect(again.status).toBe(304);
      expect(again.headers.get("etag")).toBe(etag);
      expect(await again.text()).toBe("");
    }
    expect((await diff("?from=1&to=2", { "if-none-match": '"other"' })).status).toBe(200);
    expect((await diff("?from=2&to=1")).headers.get("etag")).not.toBe(etag);
  });

  it("is made once, and the same from the cache", async () => {
    const first = await (await diff("?from=1&to=2")).text();
    world.store.before = () => {
      throw new Error("the stores are down");
    };
    expect(await (await diff("?from=1&to=2")).text()).toBe(first);
  });

  it("is 503 while the stores do not answer, and 500 without the cause at a bug", async () => {
    world.store.before = () => {
      throw new Error("the stores are down");
    };
    expect(await (await diff("?from=1&to=2")).json()).toMatchObject({
      status: 503,
      code: "catalog_unreadable",
    });
    world.cached.get = () => {
      throw new TypeError("secret detail");
    };
    const answer = await diff("?from=1&to=2");
    expect(answer.status).toBe(500);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({ code: "internal", detail: "Internal error." });
    expect(text).not.toContain("secret detail");
  });

  it.each([3, 999_999_999])("is 404 where generation %i is not retained", async (generation) => {
    for (const query of [`?from=1&to=${generation}`, `?from=${generation}&to=1`]) {
      const answer = await diff(query);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: "generation_not_retained" });
    }
    expect(world.cached.size).toBe(0);
  });

  it.each([
    ["", "from: this parameter is missing"],
    ["?from=1", "to: this parameter is missing"],
    ["?from=1&to=x", "to: must be a whole number"],
    ["?from=0&to=1", "from: must be a whole number"],
    ["?from=-1&to=1", "from: must be a whole number"],
    ["?from=1&to=2&locale=de", 'unknown parameter "locale"'],
    ["?from=1&from=1&to=2", '"from" is given twice'],
  ])("refuses “%s”", async (query, named) => {
    const answer = await diff(query);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ detail: expect.stringContaining(named) });
  });
});
