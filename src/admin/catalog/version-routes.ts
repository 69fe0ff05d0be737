import * as z from "zod";
import { type Version, versionSchema } from "../../coordinator/version.ts";
import { CONTENTS_RETAINED } from "../../coordinator/versions.ts";
import type { RollbackResult } from "../../coordinator/published-versions.ts";
import { pageOf } from "../../storage/page.ts";
import type { CoordinatorCalls } from "../calls.ts";
import { BAD_CURSOR, noteField, outcome, pageFields, pageQuery, restOf } from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";

const generationField = z.int().min(1).max(999_999_999);

const rollbackBody = z.strictObject({
  generation: generationField.meta({ description: "The version to publish again." }),
  expected_generation: generationField.optional().meta({
    description: "The current version, as you know it: 409 if another one is current by now.",
  }),
  note: noteField,
});

const versionPage = z.strictObject({
  versions: z.array(versionSchema).meta({ description: "Newest first." }),
  ...pageFields,
});

/** The order of the versions. A cursor encodes a generation with all its digits. */
const NEWEST_FIRST = {
  keyOf: (version: Version) => String(version.generation).padStart(9, "0"),
  descending: true,
  form: /^\d{9}$/,
};

const rollbackAnswer = z.strictObject({
  ...outcome,
  version: versionSchema.meta({ description: "The version that is published now." }),
});

/** Lists the published versions, and rolls back to one. */
export function versionRoutes(coordinator: CoordinatorCalls) {
  const list = route({
    method: "get",
    path: "/admin/catalog/versions",
    operationId: "listVersions",
    summary: `The published versions of the last ${CONTENTS_RETAINED} contents, newest first`,
    description:
      "A rollback can publish each of them again. A content that was published again counts once among the contents.",
    access: "read",
    query: z.strictObject(pageQuery),
    responses: { 200: { description: "A page of versions", body: versionPage } },
  }).answer(async ({ query }) => {
    const page = pageOf(await coordinator.versions(), query, NEWEST_FIRST);
    return page.ok ? { status: 200, body: { versions: page.items, ...restOf(page) } } : BAD_CURSOR;
  });

  const rollback = route({
    method: "post",
    path: "/admin/catalog/rollback",
    operationId: "rollBack",
    summary: "Publish an earlier version again",
    description:
      "Publishes it under a new, higher generation. The next ingest that finds other content replaces it: to prevent that, pause ingestion first. Works while ingestion is paused. Repeated, it changes nothing.",
    access: "operate",
    action: "catalog.rollback",
    body: rollbackBody,
    responses: { 200: { description: "The new version", body: rollbackAnswer } },
    problems: {
      404: "`generation_not_retained`",
      409: "`generation_changed`: the current version is not `expected_generation`",
    },
  }).answer(async ({ body: { generation, expected_generation } }) => {
    const result = await coordinator.rollback(generation, expected_generation);
    if (!result.ok)
      return result.reason === "not_retained"
        ? notRetained(generation)
        : generationChanged(generation, result.current);
    const { version, changed } = result;
    const after = { generation: version.generation, catalog_sha256: version.catalog_sha256 };
    return {
      status: 200,
      body: { version, changed, message: rollbackMessage(generation, result) },
      change: {
        target: String(generation),
        before: changed ? { generation: version.generation - 1 } : after,
        after,
      },
    };
  });

  return [list, rollback];
}

function rollbackMessage(
  generation: number,
  { version, changed, paused }: Extract<RollbackResult, { ok: true }>,
): string {
  if (!changed)
    return `The content of generation ${generation} is already published, as ${version.generation}: nothing changed.`;
  const pause = paused ? " Ingestion stays paused." : "";
  return `Generation ${generation} is published again, as ${version.generation}. It becomes visible everywhere within about a minute.${pause}`;
}

function generationChanged(target: number, current: number): Refusal {
  const detail = `Version ${current} is published by now, and nothing has changed. Compare with it, and decide again.`;
  return {
    problem: { status: 409, code: "generation_changed", detail },
    change: { target: String(target), before: { generation: current } },
  };
}

/** The answer about a version that is no longer there. */
export function notRetained(generation: number | string): Refusal {
  const detail = `Generation ${generation} is not retained. GET /admin/catalog/versions lists the retained ones.`;
  return {
    problem: { status: 404, code: "generation_not_retained", detail },
    change: { target: String(generation) },
  };
}
