import * as z from "zod";
import { generation as generationField } from "../../schemas/fields.ts";
import { versionSchema } from "../../schemas/version.ts";
import { CONTENTS_RETAINED } from "../../coordinator/versions.ts";
import type { RolledBack, RollbackResult } from "../../coordinator/publishing.ts";
import type { TakenOver, TakeoverResult } from "../../coordinator/take-over.ts";
import { noteField, outcome, pageFields, pageQuery } from "../http/query.ts";
import type { AuditedChange, Problem } from "../http/http.ts";
import { type Refusal, route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";

const rollbackBody = z.strictObject({
  generation: generationField.meta({ description: "The version to publish again." }),
  expected_generation: generationField.optional().meta({
    description: "The current version, as you know it: 409 if another one is current.",
  }),
  note: noteField,
});

const versionPage = z.strictObject({
  versions: z.array(versionSchema).meta({ description: "Newest first." }),
  ...pageFields,
});

const rollbackAnswer = z.strictObject({
  ...outcome,
  version: versionSchema.meta({ description: "The version that is published now." }),
});

const takeoverAnswer = z.strictObject({
  ...outcome,
  version: versionSchema.nullable().meta({
    description: "The version that is published now; null if the stores have none.",
  }),
});

export function versionRoutes({ coordinator }: AdminPlatform) {
  const list = route({
    method: "get",
    path: "/admin/catalog/versions",
    operationId: "listVersions",
    summary: `The published versions of the last ${CONTENTS_RETAINED} contents, newest first`,
    description:
      "A rollback can publish each of them again. A content that was published again counts once among the contents.",
    access: "read",
    query: z.strictObject({ limit: pageQuery.limit }),
    responses: { 200: { description: "The versions", body: versionPage } },
  }).answer(async ({ query }) => {
    const versions = await coordinator.versions();
    const body = { versions: versions.slice(0, query.limit), next_cursor: null };
    return { status: 200, body: { ...body, total: versions.length } };
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
      409: "`blobs_lost`: both stores have lost files of the version; `foreign_stores`: another installation or a newer Worker owns the stores; `generation_changed`: the current version is not `expected_generation`",
      503: NOT_SHOWN,
    },
  }).answer(async ({ body: { generation, expected_generation } }) => {
    const result = await coordinator.rollback(generation, expected_generation);
    if (!result.ok) return rollbackRefusal(generation, result);
    const { version, changed } = result;
    return {
      status: 200,
      body: { version, changed, message: rollbackMessage(generation, result) },
      change: rollbackChange(generation, result),
    };
  });

  const takeOver = route({
    method: "post",
    path: "/admin/catalog/take-over",
    operationId: "takeOver",
    summary: "Take over the stores of another installation",
    description:
      "For a coordinator that has lost its state, or a new installation that replaces another. Adopts the versions in the stores and publishes the newest again, as this installation's. Ingestion is paused afterwards, because a pause from before may be lost, until `POST /admin/ingest/resume`. The other, if it still runs, neither publishes nor deletes from then on. Repeated, it changes nothing.",
    access: "operate",
    action: "catalog.take_over",
    body: z.strictObject({ note: noteField }),
    responses: { 200: { description: "The stores are this installation's", body: takeoverAnswer } },
    problems: {
      409: "`foreign_stores`: a newer Worker has written the stores, or the other has published at the same moment; `nothing_adopted`: no version in the stores can be used",
      503: NOT_SHOWN,
    },
  }).answer(async ({ actor }) => {
    const result = await coordinator.takeOver(actor.id);
    if (!result.ok) {
      const change = result.reason === "not_shown" && { change: takeoverChange(result.published) };
      return { ...refuseStores(result), ...change };
    }
    const { version, changed, paused, unusable } = result;
    const done = changed
      ? "The stores are this installation's now."
      : "The stores are this installation's already: nothing changed.";
    const message = [
      done,
      ...(unusable.length > 0 ? [unusableMessage(unusable)] : []),
      ...(paused ? [PAUSED_UNTIL_RESUME] : []),
    ].join(" ");
    return { status: 200, body: { version, changed, message }, change: takeoverChange(result) };
  });

  return [list, rollback, takeOver];
}

const NOT_SHOWN =
  "`not_shown`: the version is published, but a store does not show it yet; repeated, the request says whether it does";

const PAUSED_UNTIL_RESUME =
  "Ingestion is paused: see in GET /admin/audit whether it was paused before, then POST /admin/ingest/resume.";

/** Maximum number of problems that an answer names; the log has all. */
const PROBLEMS_NAMED = 5;

function unusableMessage(problems: readonly string[]): string {
  const named = problems.slice(0, PROBLEMS_NAMED).join("; ");
  return `Not adopted, so the content may be older than before: ${named}. To have the newest, restore a backup, or queue a run.`;
}

function takeoverChange({ version, paused }: TakenOver): AuditedChange {
  return { after: { generation: version?.generation ?? null, paused } };
}

function rollbackChange(target: number, { version, changed }: RolledBack): AuditedChange {
  const after = { generation: version.generation, catalog_sha256: version.catalog_sha256 };
  const before = changed ? { generation: version.generation - 1 } : after;
  return { target: String(target), before, after };
}

function rollbackMessage(generation: number, { version, changed, paused }: RolledBack): string {
  if (!changed)
    return `The content of generation ${generation} is already published, as ${version.generation}: nothing changed.`;
  const pause = paused ? " Ingestion stays paused." : "";
  return `Generation ${generation} is published again, as ${version.generation}. It becomes visible everywhere within two minutes.${pause}`;
}

function rollbackRefusal(target: number, result: RollbackResult & { readonly ok: false }): Refusal {
  switch (result.reason) {
    case "not_retained":
      return notRetained(target);
    case "foreign_stores":
      return { ...refuseStores(result), change: { target: String(target) } };
    case "not_shown":
      return { ...refuseStores(result), change: rollbackChange(target, result.published) };
    case "blobs_lost":
      return refuse(target, {
        status: 409,
        code: "blobs_lost",
        detail: `Both stores have lost files of version ${target}, and nothing has changed. Restore a backup that has it.`,
      });
    case "generation_changed":
      return refuse(target, {
        status: 409,
        code: "generation_changed",
        detail: `Version ${result.current} is published now, and nothing has changed. Compare with it, and decide again.`,
      });
    default:
      return result satisfies never;
  }
}

function refuse(target: number | string, problem: Problem): Refusal {
  return { problem, change: { target: String(target) } };
}

function refuseStores({ reason: code, detail }: StoresRefused): Refusal {
  const status = code === "not_shown" ? 503 : 409;
  return { problem: { status, code, detail } };
}

type StoresRefused = Pick<Extract<TakeoverResult, { ok: false }>, "reason" | "detail">;

export function notRetained(generation: number | string): Refusal {
  const detail = `Generation ${generation} is not retained. GET /admin/catalog/versions lists the retained ones.`;
  return refuse(generation, { status: 404, code: "generation_not_retained", detail });
}
