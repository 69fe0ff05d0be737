import * as z from "zod";
import { AIRPORT_SETS, CODINGS, type Manifest } from "../../catalog/manifest.ts";
import { checkServed, checkUnserved } from "../../health/catalog-checks.ts";
import { outputOf, worstOf } from "../../health/check.ts";
import { settledWithin } from "../../storage/deadline.ts";
import { checksSchema, HEALTH_MEDIA_TYPE, healthStatus } from "./health-schema.ts";
import { route } from "../http/route.ts";
import type { Platform } from "../platform.ts";
import { hexHash, listCounts, timestamp } from "../../catalog/fields.ts";

/** Longest wait for the manifest, and for the body. */
const READ_DEADLINE_MS = 2_500;

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
  .meta({ id: "CatalogHealth" });

/**
 * `GET /catalog/health`: whether the catalog can be served. Like serving, it needs neither D1 nor the
 * coordinator.
 */
export function catalogHealthRoutes(platform: Platform) {
  const answer = { body: healthSchema, mediaType: HEALTH_MEDIA_TYPE };
  const health = route({
    method: "get",
    path: "/catalog/health",
    operationId: "getCatalogHealth",
    summary: "Health of the catalog API",
    description:
      "Opens the manifest and a body of the default locale, as serving does. 503 if the catalog is not served; a warning leaves the answer at 200.",
    access: "public",
    responses: {
      200: { description: "The catalog is served", ...answer },
      503: { description: "The catalog is not served", ...answer },
    },
  }).answer(async () => {
    const { manifest, checks } = await observeCatalog(platform);
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

const UNAVAILABLE = { ok: false, reason: "unavailable" } as const;
const DATA_LOSS = { ok: false, reason: "data_loss" } as const;

/** Opens a body of the default locale as serving does, and checks it. */
export async function observeCatalog({ reader, defaultLocale, limits, now }: Platform) {
  const read = <T>(reading: Promise<T>) =>
    settledWithin(READ_DEADLINE_MS, reading, () => UNAVAILABLE);
  const current = await read(reader.current());
  if (!current.ok) {
    const isEmpty = current.reason === "nothing_published";
    return { manifest: null, isEmpty, checks: checkUnserved(current) };
  }
  const { manifest } = current;
  const bodies = manifest.locales[defaultLocale]?.bodies.proto;
  const [smallest] = CODINGS.flatMap((coding) => {
    const body = bodies?.[coding];
    return body === undefined ? [] : [{ body, coding }];
  });
  const opened = smallest === undefined ? DATA_LOSS : await read(reader.open(smallest));
  const served = { manifest, opened, defaultLocale };
  const checks = checkServed(served, { limits, now: now() });
  return { manifest, isEmpty: false, checks };
}

function catalogFields({ generation, catalog_sha256, published_at, as_of, ...manifest }: Manifest) {
  const { data, airport_set: airports, counts, locales } = manifest;
  return {
    generation,
    catalog_sha256,
    published_at,
    as_of,
    data,
    airports,
    counts,
    locales: Object.entries(locales).map(([locale, { bytes, coverage }]) => ({
      locale,
      bytes,
      coverage,
    })),
  };
}
