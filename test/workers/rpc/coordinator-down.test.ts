import { env, exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createCatalogStore } from "../../../src/storage/catalog-store.ts";
import { OPERATOR_TOKEN } from "../../builders/admin-tokens.ts";
import { aVersion } from "../../builders/manifest.ts";
import { aGet, aPost } from "./requests.ts";
import { A_CLAIM } from "../../builders/memory-catalog-store.ts";

/** Lets whatever is not needed to serve refuse each call. */
beforeEach(() => {
  const down = () => {
    throw Object.assign(new Error("the object is overloaded"), { overloaded: true });
  };
  for (const objects of [env.COORDINATOR, env.ALERTS])
    vi.spyOn(objects, "getByName").mockImplementation(down);
  for (const call of ["prepare", "batch"] as const)
    vi.spyOn(env.HISTORY, call).mockImplementation(down);
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe("an isolate while every Durable Object and D1 are down", () => {
  it("serves the catalog that it does not hold yet, and answers 503 to the admin routes", async () => {
    const store = createCatalogStore(env.CATALOG, env.ARCHIVE, A_CLAIM);
    const { manifest, blobs } = aVersion(1, "hello");
    for (const [sha256, bytes] of blobs) await store.writeBlob(sha256, bytes);
    await store.writeManifest(manifest);
    for (const request of [aPost("application/proto", { locale: "en" }), aGet({ locale: "en" })]) {
      const answer = await exports.default.fetch(request);
      expect(answer.status).toBe(200);
      expect(new TextDecoder().decode(await answer.arrayBuffer())).toBe("<hello shared|hello en>");
    }
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    for (const path of ["ingest/pause", "ingest/queue", "backup/run", "alerts/run"]) {
      const url = `https://locations.test/admin/${path}`;
      const answer = await exports.default.fetch(url, { method: "POST", headers });
      expect(answer.status, path).toBe(503);
    }
  });
});
