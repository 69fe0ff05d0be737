import { beforeEach, describe, expect, it } from "vitest";
import { AdminWorld, type Json } from "../../../builders/admin-world.ts";
import { DEFAULT_LIMITS, NOW } from "../../../builders/facts.ts";
import { sha256Hex } from "../../../../src/catalog/bytes.ts";
import { fingerprintOf } from "../../../../src/monitor/rules.ts";
import { MANIFEST_KEY } from "../../../../src/storage/keys.ts";
import { composeBody } from "../../../../src/parts/compose.ts";
import type { Manifest } from "../../../../src/parts/manifest.ts";
import { aVersion } from "../../../builders/manifest.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

/** Publishes version 7, and gives its manifest. */
function publish(changes: Partial<Manifest> = {}): Manifest {
  const { manifest, blobs } = aVersion(7, "seven");
  const published = { ...manifest, ...changes };
  world.store.publish({ manifest: published, blobs });
  return published;
}

const messageOf = (manifest: Manifest) =>
  composeBody(manifest, { locale: "en", representation: "proto", coding: "identity" });

const health = async (status: number) => {
  const answer = await world.request("/catalog/health");
  expect(answer.status).toBe(status);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.headers.get("content-type")).toBe("application/health+json");
  return answer.json<Json>();
};

/** Makes reads of blobs fail, or of everything. */
const breakStores = (what = "") => {
  world.store.before = (call) => {
    if (call.includes(what)) throw new Error("down");
  };
};

describe("GET /catalog/health", () => {
  it("names the served version, its age and its content", async () => {
    const manifest = publish({ published_at: new Date(NOW - 90_000).toISOString() });
    const { sha256, bytes } = messageOf(manifest) ?? {};
    expect(await health(200)).toEqual({
      status: "pass",
      generation: 7,
      catalog_sha256: manifest.catalog_sha256,
      published_at: manifest.published_at,
      as_of: "2026-10-20",
      data: [{ name: "OurAirports: airports", as_of: "2026-10-20" }],
      airports: "all",
      counts: manifest.counts,
      locales: [{ locale: "en", bytes, coverage: 0.5 }],
      checks: {
        "catalog:present": [{ status: "pass", observedValue: 7 }],
        "catalog:age": [{ status: "pass", observedValue: 90, observedUnit: "s" }],
        "catalog:integrity": [{ status: "pass", observedValue: sha256 }],
        "catalog:counts": [{ status: "pass", observedValue: 2, observedUnit: "airports" }],
        "catalog:locales": [{ status: "pass", observedValue: 1 }],
        "rule:data_old": [
          {
            status: "pass",
            fingerprint: fingerprintOf("data_old", {}),
            observedValue: NOW - Date.parse("2026-10-20"),
            observedUnit: "ms",
          },
        ],
      },
    });
  });

  it.each([
    [{ as_of: "2025-10-20" }, 0, "pass", undefined],
    [
      { as_of: "2025-10-20" },
      1,
      "warn",
      "rule:data_old: The airport data is from 2025-10-20, 730 d ago.",
    ],
    [
      { as_of: null },
      0,
      "warn",
      "rule:data_old: Unknown: generation 7 does not say how old its data is.",
    ],
  ] as const)(
    "warns of old data, however recently it was published: %j, %s ms",
    async (of, ms, status, output) => {
      publish(of);
      world.ingest.time = Date.parse("2025-10-20") + DEFAULT_LIMITS.dataOldMs - 1 + ms;
      const observed = await health(200);
      expect(observed).toMatchObject({ status });
      expect(observed["output"]).toBe(output);
    },
  );

  it("answers 503 while every copy of a body is damaged", async () => {
    world.store.publish({ ...aVersion(7, "seven"), blobs: [] });
    expect(await health(503)).toMatchObject({
      status: "fail",
      generation: 7,
      output: expect.stringContaining("every copy of a body is damaged"),
    });
  });

  it.each([
    ["", undefined],
    ["catalog/blob", 7],
  ])("answers 503 while the stores do not answer calls with “%s”", async (what, generation) => {
    publish();
    breakStores(what);
    const body = await health(503);
    expect(body).toMatchObject({
      status: "fail",
      output: expect.stringContaining("the stores do not answer"),
    });
    expect(body["generation"]).toBe(generation);
  });

  it("answers 503 if another version of the Worker has written the manifest, and names both formats", async () => {
    const json = JSON.stringify({ format: 7, generation: 8 });
    const text = new TextEncoder().encode(`${json}\n${sha256Hex(json)}`);
    for (const replica of ["kv", "r2"] as const)
      world.store[replica].set(MANIFEST_KEY, Uint8Array.from(text));
    expect(await health(503)).toMatchObject({
      output: expect.stringContaining("it has format 7, and this Worker reads 5 and 6"),
    });
  });

  it("does not call a body damaged because the default locale is not published, and names what answers", async () => {
    const manifest = publish();
    world.ingest.defaultLocale = "fr";
    const output =
      "DEFAULT_LOCALE is fr, which is not published, so en answers: queue an ingest, and resume if it is paused, or set it to one of en";
    expect(await health(200)).toMatchObject({
      status: "warn",
      output: `catalog:locales: ${output}`,
      checks: {
        "catalog:integrity": [{ status: "pass", observedValue: messageOf(manifest)?.sha256 }],
        "catalog:locales": [{ status: "warn", observedValue: 1, output }],
      },
    });
  });

  it("is true from the first request that is served: it reuses no failure from before", async () => {
    const isolate = world.newIsolate();
    const status = async () => (await isolate.request("/catalog/health")).status;
    expect(await status()).toBe(503);
    publish();
    expect(await status()).toBe(200);
    breakStores();
    world.ingest.time += 4_999;
    expect(await status()).toBe(200);
    world.ingest.time += 1;
    expect(await status()).toBe(503);
  });
});
