import { messageBytes } from "../../parts/compose.ts";
import * as z from "zod";
import { AIRPORT_SETS, type Manifest } from "../../parts/manifest.ts";
import {
  type Checks,
  checksSchema,
  HEALTH_MEDIA_TYPE,
  healthStatus,
  outputOf,
  worstOf,
} from "../../schemas/check.ts";
import { route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import { observeCatalog, REUSED_MS, reuse } from "./observation.ts";
import { hexHash, listCounts, timestamp } from "../../schemas/fields.ts";

const healthSchema = z
  .strictObject({
    status: healthStatus,
    output: z.string().optional(),
    generation: z.int().min(1).optional(),
    catalog_sha256: hexHash.optional(),
    published_at: timestamp.optional(),
    as_of: z.iso
      .date()
      .nullable()
      .optional()
      .meta({ description: "The date of the airport data; null if it was not recorded." }),
    data: z
      .array(z.strictObject({ name: z.string(), as_of: z.iso.date() }))
      .optional()
      .meta({ description: "The sources of the catalog, each with the date of its data." }),
    airports: z.enum(AIRPORT_SETS).optional().meta({
      description: "Whether the catalog has all airports, or only those with scheduled service.",
    }),
    counts: listCounts.optional(),
    locales: z
      .array(
        z.strictObject({
          locale: z.string(),
          bytes: z.int().min(0),
          coverage: z.number().min(0).max(1),
        }),
      )
      .optional(),
    checks: checksSchema,
  })
  .meta({ id: "CatalogHealth", description: "Whether the catalog is served, and which." });

/** `GET /catalog/health`: whether the catalog can be served. It needs neither D1 nor the coordinator. */
export function catalogHealthRoutes(platform: AdminPlatform) {
  // A failure is not reused: it may be over.
  const isServed = ({ checks }: { readonly checks: Checks }) => worstOf(checks) !== "fail";
  const observe = reuse(REUSED_MS, platform, () => observeCatalog(platform), isServed);
  const answer = { body: healthSchema, mediaType: HEALTH_MEDIA_TYPE };
  const health = route({
    method: "get",
    path: "/catalog/health",
    operationId: "getCatalogHealth",
    summary: "Health of the catalog API",
    description:
      "Opens the manifest and bodies of the default locale from the stores, as a new isolate does: what this one holds in memory counts for nothing. Reuses a finding for five seconds unless its status is `fail`. 503 if the status is `fail`, otherwise 200.",
    access: "public",
    responses: {
      200: { description: "The catalog is served: the status is `pass` or `warn`", ...answer },
      503: { description: "The catalog is not served: the status is `fail`", ...answer },
    },
  }).answer(async () => {
    const { manifest, checks } = await observe();
    const status = worstOf(checks);
    const output = outputOf(checks);
    return {
      status: status === "fail" ? 503 : 200,
      headers: { "cache-control": "no-store" },
      body: {
        status,
        ...(output !== undefined && { output }),
        ...(manifest && catalogFields(manifest)),
        checks,
      },
    };
  });
  return [health];
}

function catalogFields({ generation, catalog_sha256, published_at, as_of, ...manifest }: Manifest) {
  const { data, airport_set: airports, counts, shared, locales } = manifest;
  return {
    generation,
    catalog_sha256,
    published_at,
    as_of,
    data,
    airports,
    counts,
    locales: Object.entries(locales).map(([locale, { parts, coverage }]) => ({
      locale,
      bytes: messageBytes({ shared: shared.proto, locale: parts.proto }),
      coverage,
    })),
  };
}
