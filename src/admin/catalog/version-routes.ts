import * as z from "zod";
import { versionSchema } from "../../coordinator/version.ts";
import { CONTENTS_RETAINED } from "../../coordinator/versions.ts";
import type { RollbackResult } from "../../coordinator/published-versions.ts";
import type { CoordinatorCalls } from "../calls.ts";
import { noteField, outcome } from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";

const rollbackBody = z.strictObject({
  generation: z.int().min(1).meta({ description: "The version to publish again." }),
  note: noteField,
});

const rollbackAnswer = z.strictObject({
  ...outcome,
  version: versionSchema.meta({ description: "The version that is published now." }),
});

/** Lists the published versions, and rolls back to one. */
export function versionRoutes(coordinator: CoordinatorCalls) {
  const list = route({
    method: "get",
    path: "/admin/catalog/versions",
    summary: `The published versions of the last ${CONTENTS_RETAINED} contents, newest first`,
    access: "read",
    responses: {
      200: {
        description: "The versions",
        body: z.strictObject({ versions: z.array(versionSchema) }),
      },
    },
  }).answer(async () => ({ status: 200, body: { versions: await coordinator.versions() } }));

  const rollback = route({
    method: "post",
    path: "/admin/catalog/rollback",
    summary: "Publish an earlier version again",
    description:
      "Publishes it under a new, higher generation. The next ingest that finds other content replaces it: to prevent that, pause ingestion first. Works while ingestion is paused. Repeated, it changes nothing.",
    access: "operate",
    action: "catalog.rollback",
    body: rollbackBody,
    responses: { 200: { description: "The new version", body: rollbackAnswer } },
    problems: {
      404: "`generation_not_retained`",
    },
  }).answer(async ({ body: { generation } }) => {
    const result = await coordinator.rollback(generation);
    if (!result.ok) return notRetained(generation);
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

/** The answer about a version that is no longer there. */
export function notRetained(generation: number | string): Refusal {
  const detail = `Generation ${generation} is not retained. GET /admin/catalog/versions lists the retained ones.`;
  return {
    problem: { status: 404, code: "generation_not_retained", detail },
    change: { target: String(generation) },
  };
}
