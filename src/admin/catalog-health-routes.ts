import { z } from "zod";
import { CODINGS, type Manifest } from "../catalog/manifest.ts";
import { describeError, logLine } from "../log.ts";
import type { CatalogReader, OpenResult } from "../storage/catalog-reader.ts";
import {
  type Checks,
  checksSchema,
  HEALTH_MEDIA_TYPE,
  HEALTH_STATUSES,
  outputOf,
  worstOf,
} from "./health.ts";
import { route } from "./route.ts";
import { listCounts, sha256Hex, timestamp } from "./run-schema.ts";

/** How long the catalog may be looked for. */
const HEALTH_DEADLINE_MS = 5_000;

const healthSchema = z
  .strictObject({
    status: z.enum(HEALTH_STATUSES),
    output: z.string().optional(),
    version: z.string().optional().meta({ description: "The generation that is published." }),
    catalog_sha256: sha256Hex.optional(),
    published_at: timestamp.optional(),
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
 * `GET /catalog/health`: whether the catalog can be served. Reads what serving reads, neither D1 nor
 * the coordinator.
 */
export function catalogHealthRoutes(
  reader: CatalogReader,
  { defaultLocale, now }: { readonly defaultLocale: string; readonly now: () => number },
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
    const softly = failSoftly(requestId);
    const caller = { signal: AbortSignal.timeout(HEALTH_DEADLINE_MS) };
    const current = await reader.current(caller).catch(softly);
    if (!current.ok) return failed(current.reason);
    const { manifest } = current;
    const opened = await reader
      .open({ manifest, locale: defaultLocale, representation: "proto", codings: CODINGS }, caller)
      .catch(softly);
    const checks = checkCatalog(manifest, { opened, defaultLocale, now: now() });
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

/** Takes a fault of the stores for their answer, and its cause into the log. */
function failSoftly(requestId: string) {
  return (cause: unknown) => {
    const fields = { request_id: requestId, ...describeError(cause) };
    logLine("warn", "catalog_unreadable", "the catalog could not be looked at", fields);
    return { ok: false, reason: "unavailable" } as const;
  };
}

const FAILURES = {
  nothing_published: "nothing is published yet; queue an ingest",
  unavailable: "the stores do not answer",
  data_loss: "every copy of a body is damaged or missing; queue an ingest with mode full",
} as const;

function failed(reason: keyof typeof FAILURES) {
  const output = FAILURES[reason];
  const checks = { "catalog:present": [{ status: "fail" as const, output }] };
  return {
    status: 503 as const,
    headers: NOT_KEPT,
    body: { status: "fail" as const, output, checks },
  };
}

/** What can be said of the published version. Its age is no fault: an unchanged world stays as it is. */
export function checkCatalog(
  manifest: Manifest,
  about: { readonly opened: OpenResult; readonly defaultLocale: string; readonly now: number },
): Checks {
  const { opened, defaultLocale, now } = about;
  const age = Math.round((now - Date.parse(manifest.published_at)) / 1000);
  const empty = Object.entries(manifest.counts).filter(([, count]) => count === 0);
  const hasDefault = Object.hasOwn(manifest.locales, defaultLocale);
  return {
    "catalog:present": [{ status: "pass", observedValue: manifest.generation }],
    "catalog:age": [{ status: "pass", observedValue: age, observedUnit: "s" }],
    "catalog:integrity": [checkBody(manifest, opened)],
    "catalog:counts": [
      empty.length === 0
        ? { status: "pass", observedValue: manifest.counts.airports, observedUnit: "airports" }
        : { status: "fail", output: `no ${empty.map(([list]) => list).join(", no ")}` },
    ],
    "catalog:locales": [
      {
        status: hasDefault ? "pass" : "fail",
        observedValue: Object.keys(manifest.locales).length,
        ...(!hasDefault && { output: `the default locale ${defaultLocale} is not published` }),
      },
    ],
  };
}

/** Whether a body's bytes can be had and have the hash that the manifest names. */
function checkBody(manifest: Manifest, opened: OpenResult): Checks[`${string}:${string}`][number] {
  if (!opened.ok) return { status: "fail", output: FAILURES[opened.reason] };
  const { generation } = opened.opened.manifest;
  if (generation === manifest.generation)
    return { status: "pass", observedValue: opened.opened.body.sha256 };
  const output = `generation ${generation} is served, because ${manifest.generation} cannot be read`;
  return { status: "warn", output };
}
