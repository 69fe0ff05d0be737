import { beforeEach, describe, expect, it } from "vitest";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  type LocationsResponse,
  LocationsResponseSchema,
} from "../../../../gen/locations/v1/locations_pb.ts";
import { sha256Hex } from "../../../../src/catalog/hash.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { aLocationsResponse } from "../../../builders/fake-catalog-reader.ts";
import { aLocaleEntry, aManifest } from "../../../builders/manifest.ts";

let world: AdminWorld;

beforeEach(async () => {
  world = new AdminWorld();
  await publish(1, aLocationsResponse("en"));
  const [airport] = aLocationsResponse("en").airports;
  await publish(2, {
    ...aLocationsResponse("en"),
    airports: airport === undefined ? [] : [{ ...airport, name: "Zürich Airport" }],
    regions: [],
  });
});

/** Stores a version whose English message this is. */
async function publish(generation: number, message: LocationsResponse): Promise<void> {
  const bytes = toBinary(LocationsResponseSchema, create(LocationsResponseSchema, message));
  const sha256 = sha256Hex(bytes);
  const body = { sha256, bytes: bytes.length, segments: [{ blob: sha256, bytes: bytes.length }] };
  const bodies = { identity: body };
  const entry = aLocaleEntry({
    bodies: { proto: bodies, json: bodies, "grpc-web": bodies, "grpc-web-text": bodies },
  });
  await world.store.writeBlob(sha256, bytes);
  await world.store.writeGeneration(aManifest({ generation, locales: { en: entry } }));
}

const diff = (query: string, headers: { readonly [name: string]: string } = {}) =>
  world.send(`/catalog/diff${query}`, { headers });

describe("GET /catalog/diff", () => {
  it("says what was changed and removed, with what was so before, to everybody", async () => {
    const answer = await diff("?from=1&to=2");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toMatch(/^public, max-age=/);
    expect(await answer.json()).toMatchObject({
      from: { generation: 1 },
      to: { generation: 2 },
      locale: "en",
      airports: {
        counts: { added: 0, changed: 1, removed: 0 },
        changed: [{ label: "ZRH", before: { name: "Zürich" }, after: { name: "Zürich Airport" } }],
      },
      cities: { counts: { added: 0, changed: 0, removed: 0 } },
      regions: { removed: [{ slug: "canton-of-zurich" }] },
    });
  });

  it("says the opposite the other way round, and nothing of a version and itself", async () => {
    expect(await (await diff("?from=2&to=1")).json()).toMatchObject({
      airports: { changed: [{ before: { name: "Zürich Airport" }, after: { name: "Zürich" } }] },
      regions: { counts: { added: 1 } },
    });
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
