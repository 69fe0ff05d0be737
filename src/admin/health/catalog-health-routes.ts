import { z } from "zod";
import { AIRPORT_SETS, CODINGS } from "../../catalog/manifest.ts";
import { checkServed, checkUnserved } from "../../health/catalog-checks.ts";
import type { RuleContext } from "../../health/rule.ts";
import { outputOf, worstOf } from "../../health/status.ts";
import { describeError, logLine } from "../../log.ts";
import type { CatalogReader } from "../../storage/catalog-reader.ts";
import { withDeadline } from "../../storage/deadline.ts";
import { checksSchema, HEALTH_MEDIA_TYPE, healthStatus } from "./health-schema.ts";
import { route } from "../http/route.ts";
import { listCounts, hexHash, timestamp } from "../../catalog/fields.ts";

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

interface HealthDependencies extends Pick<RuleContext, "limits"> {
  readonly defaultLocale: string;
  readonly now: () => number;
}

/**
 * `GET /catalog/health`: whether the catalog can be served. Like serving, it needs neither D1 nor the
 * coordinator.
 */
export function catalogHealthRoutes(
  reader: CatalogReader,
  { defaultLocale, limits, now }: HealthDependencies,
) {
  const health = route({
    method: "get",
    path: "/catalog/health",
    summary: "Health of the catalog API",
    access: "public",
    responses: {
      200: {
        description: "The catalog is served",
        body: healthSchema,
        mediaType: HEALTH_MEDIA_TYPE,
      },
      503: {
        description: "The catalog is not served",
        body: healthSchema,
        mediaType: HEALTH_MEDIA_TYPE,
      },
    },
  }).answer(async ({ requestId }) => {
    const unavailable = unavailableOnFault(requestId);
    const read = <T>(reading: Promise<T>) =>
      withDeadline("catalog", READ_DEADLINE_MS, reading).catch(unavailable);
    const current = await read(reader.current());
    if (!current.ok) return failed(current.reason);
    const { manifest } = current;
    const selection = { locale: defaultLocale, representation: "proto", codings: CODINGS } as const;
    const opened = await read(reader.open({ manifest, ...selection }));
    const context = { limits, now: now() };
    const checks = checkServed({ manifest, opened, defaultLocale }, context);
    const status = worstOf(checks);
    const output = outputOf(checks);
    return {
      status: status === "fail" ? 503 : 200,
      headers: NO_STORE,
      body: {
        status,
        ...(output !== undefined && { output }),
        generation: manifest.generation,
        catalog_sha256: manifest.catalog_sha256,
        published_at: manifest.published_at,
        as_of: manifest.as_of,
        data: [...manifest.data],
        airports: manifest.airport_set,
        counts: manifest.counts,
        locales: Object.entries(manifest.locales).map(([locale, { bytes, coverage }]) => ({
          locale,
          bytes,
          coverage,
        })),
        checks,
      },
    };
  });
  return [health];
}

const NO_STORE = { "cache-control": "no-store" };

/** Turns a fault of the stores into `unavailable`, and logs its cause. */
function unavailableOnFault(requestId: string) {
  return (cause: unknown) => {
    const fields = { request_id: requestId, ...describeError(cause) };
    logLine("warn", "catalog_unreadable", "the catalog could not be read", fields);
    return { ok: false, reason: "unavailable" } as const;
  };
}

function failed(reason: Parameters<typeof checkUnserved>[0]) {
  const { "catalog:present": present = [] } = checkUnserved(reason);
  const output = present[0]?.output;
  return {
    status: 503 as const,
    headers: NO_STORE,
    body: { status: "fail" as const, output, checks: { "catalog:present": present } },
  };
}
