import { z } from "zod";
import type { RollbackResult } from "../ingest/published-versions.ts";
import { VERSIONS_RETAINED } from "../ingest/versions.ts";
import type { CoordinatorUseCases } from "./coordinator.ts";
import { type Refusal, route } from "./route.ts";
import { listCounts, sha256Hex, timestamp } from "./run-schema.ts";
import { snakeKeys } from "./snake-keys.ts";

const versionSchema = z
  .strictObject({
    generation: z.int().min(1),
    published_at: timestamp,
    catalog_sha256: sha256Hex,
    counts: listCounts,
    locales: z.array(z.string()),
    is_current: z.boolean(),
  })
  .meta({ id: "Version", description: "A published version of the catalog." });

const rollbackBody = z.strictObject({
  generation: z.int().min(1).meta({ description: "The version to publish again." }),
});

const rollbackAnswer = z.strictObject({
  version: versionSchema,
  message: z.string(),
});

/** The published versions, and going back to one. */
export function versionRoutes(coordinator: CoordinatorUseCases) {
  const list = route({
    method: "get",
    path: "/admin/catalog/versions",
    summary: `The last ${VERSIONS_RETAINED} published versions, newest first`,
    access: "read",
    responses: {
      200: { description: "Them", body: z.strictObject({ versions: z.array(versionSchema) }) },
    },
  }).answer(async () => {
    const versions = await coordinator.versions();
    return { status: 200, body: { versions: snakeKeys(versions) } };
  });

  const rollback = route({
    method: "post",
    path: "/admin/catalog/rollback",
    summary: "Publish an earlier version again",
    description:
      "Under a new, higher generation. It is not undone by anything but the next ingest that finds another content, or another rollback: pause ingestion first if the next one must not.",
    access: "operate",
    action: "catalog.rollback",
    body: rollbackBody,
    responses: { 200: { description: "The version as published again", body: rollbackAnswer } },
    problems: {
      404: "`generation_not_retained`",
      409: "`generation_is_current`: it says what is published already; `restoring`: a backup is being restored",
    },
  }).answer(async ({ body: { generation } }) => {
    const result = await coordinator.rollback(generation);
    if (!result.ok) return refuseRollback(result.reason, generation);
    const { version } = result;
    const message = `Generation ${generation} is published again, as ${version.generation}. It is visible everywhere within about a minute.`;
    return {
      status: 200,
      body: { version: snakeKeys(version), message },
      change: {
        target: String(generation),
        before: { generation: version.generation - 1 },
        after: { generation: version.generation, catalog_sha256: version.catalogSha256 },
      },
    };
  });

  return [list, rollback];
}

function refuseRollback(
  reason: Extract<RollbackResult, { ok: false }>["reason"],
  generation: number,
): Refusal {
  const change = { target: String(generation) };
  switch (reason) {
    case "is_current": {
      const detail = `What generation ${generation} says is published already.`;
      return { problem: { status: 409, code: "generation_is_current", detail }, change };
    }
    case "restoring": {
      const detail =
        "A backup is being restored, which replaces the versions. Try again when it is done.";
      return { problem: { status: 409, code: "restoring", detail }, change };
    }
    case "not_retained": {
      const detail = `Generation ${generation} is not retained. GET /admin/catalog/versions lists those that are.`;
      return { problem: { status: 404, code: "generation_not_retained", detail }, change };
    }
    default:
      return reason satisfies never;
  }
}
