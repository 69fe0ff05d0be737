import { composeBody } from "../../parts/compose.ts";
import * as z from "zod";
import { backupId, isBackupId } from "../../schemas/backup.ts";
import { readBackup, readState } from "../../backup/read-backups.ts";
import { wholeVersions } from "../../backup/state-part.ts";
import { sha256Hex } from "../../catalog/bytes.ts";
import { diffCatalogs } from "../../catalog/diff.ts";
import { compareLocales } from "../../catalog/locale-settings.ts";
import type { Manifest } from "../../parts/manifest.ts";
import { CHANGES_LISTED, type ChangeSample, sampleChanges } from "../../ingest/change-sample.ts";
import type { BackupStore } from "../../storage/backup-store.ts";
import type { CachedCatalogReader } from "../../storage/cached-catalog-reader.ts";
import { type CatalogStore, type Copy, tryReadBody } from "../../storage/catalog-store.ts";
import { orUnavailable, soonOrNull } from "../calls.ts";
import { NO_BACKUP } from "../backup/backup-routes.ts";
import { type Refusal, route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import { comparisonSchema } from "../../schemas/comparison.ts";
import type { Sha256Hex } from "../../platform/units.ts";
import { UNREADABLE } from "./diff-routes.ts";
import { notRetained } from "./version-routes.ts";

const versionName = z
  .union([
    z.string().regex(/^[1-9]\d{0,8}$/, "must be a generation or the id of a backup"),
    backupId,
  ])
  .optional()
  .meta({
    description: "A retained generation, or the id of a backup. The published version if absent.",
  });

/** `GET /admin/catalog/comparison`: the changes that publishing another version would make. */
export function comparisonRoutes(platform: AdminPlatform) {
  const comparison = route({
    method: "get",
    path: "/admin/catalog/comparison",
    operationId: "compareVersions",
    summary: "Compare two versions, such as the published one with that of a backup",
    description:
      "The counts of both, and a sample of what differs, made on demand: also where no diff is stored.",
    access: "read",
    query: z.strictObject({ from: versionName, to: versionName }),
    responses: { 200: { description: "The comparison", body: comparisonSchema } },
    problems: {
      404: "`generation_not_retained`, `backup_not_found`, `nothing_published`",
      409: "`backup_unusable`: the backup has no version that a restore could publish",
      503: "`catalog_unreadable`, `backups_unavailable`: the stores do not answer",
    },
  }).answer(async ({ query }) => {
    const from = await findVersion(platform, query.from);
    if ("problem" in from) return from;
    const to = await findVersion(platform, query.to);
    if ("problem" in to) return to;
    const changes = await sampleOf(platform, from, to);
    const warning = await warningOf(platform, to);
    return { status: 200, body: { from: fieldsOf(from), to: fieldsOf(to), warning, changes } };
  });
  return [comparison];
}

async function findVersion(
  { reader, backups }: AdminPlatform,
  name: string | undefined,
): Promise<Manifest | Refusal> {
  if (name !== undefined && isBackupId(name))
    return orUnavailable("backups", versionOfBackup(backups, name));
  const newest = await reader.newest();
  if (!newest.ok) return newest.reason === "unavailable" ? UNREADABLE : NOT_PUBLISHED_YET;
  const { manifest } = newest;
  if (name === undefined || String(manifest.generation) === name) return manifest;
  const older = await reader.findOlder(({ generation }) => String(generation) === name);
  if (older.ok) return older.value;
  return older.fault === "missing" ? notRetained(name) : UNREADABLE;
}

async function versionOfBackup(backups: BackupStore, id: string): Promise<Manifest | Refusal> {
  const { parsed } = await readBackup(backups, id);
  if (!parsed.ok)
    return parsed.fault.code === "manifest_missing" ? NO_BACKUP : unusable(parsed.fault.message);
  const read = await readState(backups, parsed.manifest);
  if (!read.ok) return unusable(read.fault.message);
  const [version] = wholeVersions(read.state.versions, parsed.manifest.missing);
  return version ?? unusable("it has no complete version");
}

/** Describes how the locales of a version differ from the settings; null if that is unknown. */
async function warningOf(
  { coordinator }: AdminPlatform,
  { locales }: Manifest,
): Promise<string | null> {
  const status = await soonOrNull(coordinator.status());
  const settings = status?.localeSettings;
  return (settings && compareLocales("This version", locales, settings).message) || null;
}

/** Compares two versions in a locale of both, if there is one; null if a body has no intact copy. */
async function sampleOf(
  { reader, backups, defaultLocale }: AdminPlatform,
  from: Manifest,
  to: Manifest,
): Promise<ChangeSample | null> {
  // A blob that garbage collection has deleted may still be in a backup.
  const readBlob: CatalogStore["readBlob"] = async (replica, sha256) =>
    replica === "r2" ? readFromCatalog(reader, sha256) : readFromBackups(backups, sha256);
  const isInBoth = (locale: string) =>
    from.locales[locale] !== undefined && to.locales[locale] !== undefined;
  const names = Object.keys(to.locales);
  const common = [defaultLocale, ...names].find(isInBoth);
  const read = async (manifest: Manifest) => {
    const locale = common ?? Object.keys(manifest.locales)[0] ?? "";
    const wanted = { locale, representation: "proto", coding: "identity" } as const;
    const body = composeBody(manifest, wanted);
    const copy = body && (await tryReadBody({ readBlob }, body));
    return copy?.ok === true ? copy.value : null;
  };
  const [before, after] = [await read(from), await read(to)];
  if (before === null || after === null) return null;
  const diff = diffCatalogs({
    before,
    after: () => [after],
    maxListed: CHANGES_LISTED,
    isOfTwoLocales: common === undefined,
  });
  return sampleChanges(diff, common ?? names[0] ?? defaultLocale);
}

type BlobCopy = Copy<Uint8Array<ArrayBuffer>>;

async function readFromCatalog(reader: CachedCatalogReader, sha256: Sha256Hex): Promise<BlobCopy> {
  const copy = await reader.blob(sha256);
  return copy.ok ? { ok: true, value: new Uint8Array(await copy.value.arrayBuffer()) } : copy;
}

async function readFromBackups(backups: BackupStore, sha256: Sha256Hex): Promise<BlobCopy> {
  const bytes = await backups.readObject(sha256).catch(() => null);
  if (bytes === null || sha256Hex(bytes) !== sha256)
    return { ok: false, fault: "missing", detail: `no backup has ${sha256}` };
  return { ok: true, value: new Uint8Array(bytes) };
}

function fieldsOf({ generation, published_at, catalog_sha256, counts, locales }: Manifest) {
  return { generation, published_at, catalog_sha256, counts, locales: Object.keys(locales) };
}

const NOT_PUBLISHED_YET: Refusal = {
  problem: { status: 404, code: "nothing_published", detail: "Nothing is published yet." },
};

function unusable(why: string): Refusal {
  const detail = `A restore cannot publish anything from this backup: ${why}.`;
  return { problem: { status: 409, code: "backup_unusable", detail } };
}
