import { z } from "zod";
import { AIRPORT_SETS, CODINGS } from "../../catalog/manifest.ts";
import { checkServed, checkUnserved } from "../../health/catalog-checks.ts";
import type { RuleContext } from "../../health/rule.ts";
import { outputOf, worstOf } from "../../health/status.ts";
import { describeError, logLine } from "../../log.ts";
import type { CatalogReader } from "../../storage/catalog-reader.ts";
import { checksSchema, HEALTH_MEDIA_TYPE, healthStatus } from "./health-schema.ts";
import { route } from "../http/route.ts";
import { listCounts, hexHash, timestamp } from "../../catalog/fields.ts";

/** How long the catalog may be looked for. */
const HEALTH_DEADLINE_MS = 5_000;

const healthSchema = z
  .strictObject({
    status: healthStatus,
    output: z.string().optional(),
    version: z.string().optional().meta({ description: "The generation that is published." }),
    catalog_sha256: hexHash.optional(),
    published_at: timestamp.optional(),
    as_of: z.iso
      .date()
      .nullable()
      .optional()
      .meta({ description: "The day that the airports are of; null if it was not recorded." }),
    data: z
      .array(z.strictObject({ name: z.string(), as_of: z.iso.date() }))
      .optional()
      .meta({ description: "What the catalog was made from, and the day that each is of." }),
    airports: z
      .enum(AIRPORT_SETS)
      .optional()
      .meta({ description: "Whether all are published, or those with scheduled service only." }),
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

/** What a body is opened of, and what the catalog is judged by. */
export interface HealthDependencies extends Pick<RuleContext, "limits"> {
  readonly defaultLocale: string;
  readonly now: () => number;
}

/**
 * `GET /catalog/health`: whether the catalog can be served. Reads what serving reads, neither D1 nor
 * the coordinator.
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
      200: { description: "It is served", body: healthSchema, mediaType: HEALTH_MEDIA_TYPE },
      503: { description: "It is not", body: healthSchema, mediaType: HEALTH_MEDIA_TYPE },
    },
  }).answer(async ({ requestId }) => {
    const unavailable = unavailableOnFault(requestId);
    const caller = { signal: AbortSignal.timeout(HEALTH_DEADLINE_MS) };
    const current = await reader.current(caller).catch(unavailable);
    if (!current.ok) return failed(current.reason);
    const { manifest } = current;
    const opened = await reader
      .open({ manifest, locale: defaultLocale, representation: "proto", codings: CODINGS }, caller)
      .catch(unavailable);
    const context = { limits, now: now() };
    const checks = checkServed({ manifest, opened, defaultLocale }, context);
    const status = worstOf(checks);
    const output = outputOf(checks);
    return {
      status: status === "fail" ? 503 : 200,
      headers: NOT_KEPT,
      body: {
        status,
        ...(output !== undefined && { output }),
        version: String(manifest.generation),
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

const NOT_KEPT = { "cache-control": "no-store" };

/** Answers a fault of the stores with `unavailable`, and logs its cause. */
function unavailableOnFault(requestId: string) {
  return (cause: unknown) => {
    const fields = { request_id: requestId, ...describeError(cause) };
    logLine("warn", "catalog_unreadable", "the catalog could not be looked at", fields);
    return { ok: false, reason: "unavailable" } as const;
  };
}

function failed(reason: Parameters<typeof checkUnserved>[0]) {
  const { "catalog:present": present = [] } = checkUnserved(reason);
  const output = present[0]?.output;
  return {
    status: 503 as const,
    headers: NOT_KEPT,
    body: { status: "fail" as const, output, checks: { "catalog:present": present } },
  };
}
