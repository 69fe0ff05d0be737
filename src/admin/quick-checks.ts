import { Hono } from "hono";
import type { Http } from "./http.ts";
import type { CatalogReader } from "../storage/catalog-reader.ts";

/** How long `/catalog/health` may look for the manifest. */
const HEALTH_DEADLINE_MS = 5_000;

/**
 * `GET /catalog/health`: whether the catalog can be served, as health+json
 * (draft-inadarei-api-health-check). Reads what serving reads, neither D1 nor the coordinator.
 */
export function quickChecks(reader: CatalogReader, now: () => number): Hono<Http> {
  const app = new Hono<Http>();
  app.get("/catalog/health", async (c) => {
    const current = await reader
      .current({ signal: AbortSignal.timeout(HEALTH_DEADLINE_MS) })
      .catch(() => null);
    c.header("cache-control", "no-store");
    c.header("content-type", "application/health+json");
    if (current === null || !current.ok) {
      const output = current === null ? "the stores do not answer" : FAILURES[current.reason];
      return c.body(JSON.stringify({ status: "fail", output }), 503);
    }
    const { manifest } = current;
    const locales = Object.entries(manifest.locales).map(([locale, { bytes, coverage }]) => ({
      locale,
      bytes,
      coverage,
    }));
    const age = Math.round((now() - Date.parse(manifest.published_at)) / 1000);
    const health = {
      status: "pass",
      version: String(manifest.generation),
      catalog_sha256: manifest.catalog_sha256,
      published_at: manifest.published_at,
      counts: manifest.counts,
      locales,
      checks: {
        "catalog:age": [{ status: "pass", observedValue: age, observedUnit: "s" }],
      },
    };
    return c.body(JSON.stringify(health));
  });
  return app;
}

const FAILURES = {
  nothing_published: "nothing is published yet; queue an ingest",
  unavailable: "the stores do not answer",
} as const;
