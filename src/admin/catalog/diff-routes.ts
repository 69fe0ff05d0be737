import * as z from "zod";
import { diffSchema } from "../../schemas/diff.ts";
import { matchesEntityTag } from "../../rpc/preconditions.ts";
import { sha256Hex } from "../../catalog/bytes.ts";
import { negotiateLocale, parseLocale } from "../../catalog/locale.ts";
import { type Manifest, messageSha256, type StoredDiff } from "../../parts/manifest.ts";
import { nothingChanged } from "../../ingest/change-sample.ts";
import { settledWithin } from "../../platform/deadline.ts";
import { worstFault } from "../../storage/store-reads.ts";
import { type Refusal, route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";

const DIFF_DEADLINE_MS = 5_000;

export const localeField = z
  .string()
  .default("")
  .refine((tag) => parseLocale(tag).ok, "must be a BCP 47 tag")
  .meta({ description: "Locale of the regions' names, as of the catalog itself." });

const diffQuery = z.strictObject({
  from: z
    .string()
    .regex(/^(?:[1-9]\d{0,8}|[0-9a-f]{64})$/, "must be a generation or a SHA-256")
    .meta({
      description:
        "`Catalog-Version` or `Catalog-Sha256` of the answer that you have, or `to.catalog_sha256` of the diff that led to it.",
    }),
  locale: localeField,
});

export const CACHING = {
  ETag: "Send it in If-None-Match to ask whether the answer is still the same.",
  "Cache-Control": "How long the answer may be reused.",
};

/** `GET /catalog/diff`: the stored changes since an app's version. */
export function diffRoutes({ reader, defaultLocale }: AdminPlatform) {
  const diff = route({
    method: "get",
    path: "/catalog/diff",
    operationId: "getCatalogDiff",
    summary: "What to change in an earlier version to have the current one",
    description:
      "Every difference of the last few contents, in one locale; nothing for the current one. Fetch the whole catalog if the answer is 404, or if its `locale` is not that of the names that you have.",
    access: "public",
    query: diffQuery,
    responses: {
      200: { description: "The changes, by list", headers: CACHING, body: diffSchema },
      304: { description: "The changes match the ETag that was sent", headers: CACHING },
    },
    problems: {
      404: "`generation_not_retained`, `locale_mismatch`, `changes_not_stored`: fetch the whole catalog",
      503: "`catalog_unreadable`: the stores do not answer",
    },
  }).answer(async ({ query, headers }) => {
    const wanted = { ...query, defaultLocale };
    const ifNoneMatch = headers.get("if-none-match") ?? "";
    return settledWithin(
      DIFF_DEADLINE_MS,
      answerDiff(reader, wanted, ifNoneMatch),
      () => UNREADABLE,
    );
  });
  return [diff];
}

interface WantedDiff extends z.output<typeof diffQuery> {
  readonly defaultLocale: string;
}

async function answerDiff(
  reader: AdminPlatform["reader"],
  wanted: WantedDiff,
  ifNoneMatch: string,
) {
  const current = await reader.current();
  if (!current.ok) return UNREADABLE;
  const source = await findSource(reader, current.manifest, wanted);
  if (source === "unreadable") return UNREADABLE;
  if (typeof source === "string") return refuseDiff(source, wanted.from);
  const { from, to } = source;
  const locale = localeIn(to, wanted);
  const parts = partsOf(from, locale);
  if (parts === undefined) return refuseDiff("changes_not_stored", wanted.from);
  const head = { from: versionFields(from), to: versionFields(to), locale };
  const etag = `"${sha256Hex(JSON.stringify([head, parts]))}"`;
  const shared = { etag, "cache-control": "public, max-age=60" };
  if (matchesEntityTag(ifNoneMatch, etag)) return { status: 304 as const, headers: shared };
  if (parts === NO_PARTS) {
    const body = { ...nothingChanged(locale), ...head };
    return { status: 200 as const, body, headers: shared };
  }
  const copies = await Promise.all(parts.map((sha256) => reader.blob(sha256)));
  const fault = worstFault(copies);
  if (fault !== undefined)
    return fault.fault === "unreadable"
      ? UNREADABLE
      : refuseDiff("changes_not_stored", wanted.from);
  const pieces = copies.flatMap((copy) => (copy.ok ? [",", copy.value] : []));
  const body = new Blob([JSON.stringify(head).slice(0, -1), ...pieces, "}"]);
  return { status: 200 as const, body: await body.arrayBuffer(), headers: shared };
}

type VersionFields = Pick<StoredDiff, "generation" | "published_at" | "catalog_sha256">;

/** The version that an app has, and the version that the diff leads to. */
interface Source {
  readonly from: Manifest | StoredDiff;
  readonly to: Manifest;
}

/** The reason for no diff from a version, as the end of a sentence that starts with its name. */
const REASONS = {
  generation_not_retained: "is not one of the retained versions",
  locale_mismatch: "is the hash of a message in another language than the requested one",
  changes_not_stored: "is a version from which no changes are stored in this language",
} as const;

type FoundSource = Source | "unreadable" | keyof typeof REASONS;

/** Finds an app's version. It may come from an isolate that knows a newer version than this one. */
async function findSource(
  reader: AdminPlatform["reader"],
  current: Manifest,
  wanted: WantedDiff,
): Promise<FoundSource> {
  const known = await findIn(reader, current, wanted);
  if (typeof known === "object" || known === "unreadable") return known;
  const newest = await reader.newest();
  const isNewer = newest.ok && newest.manifest.generation > current.generation;
  return isNewer ? findIn(reader, newest.manifest, wanted) : known;
}

/** Finds a version by generation, hash of its content or, in its manifest, hash of a locale's message. */
async function findIn(
  reader: AdminPlatform["reader"],
  to: Manifest,
  wanted: WantedDiff,
): Promise<FoundSource> {
  const { from: name } = wanted;
  const known = [to, ...to.diffs];
  const byContent = (content: string) => {
    const from = known.find((diff) => diff.catalog_sha256 === content);
    return from && { from, to };
  };
  const byGeneration = known.find(({ generation }) => String(generation) === name);
  const named = byContent(name) ?? (byGeneration && { from: byGeneration, to });
  if (named !== undefined) return named;
  const locale = localeIn(to, wanted);
  const isNamed = ({ generation, catalog_sha256, locales }: Manifest) => {
    const entry = locales[locale];
    const ofLocale = entry === undefined ? [] : [messageSha256(entry)];
    return [String(generation), catalog_sha256, ...ofLocale].includes(name);
  };
  if (isNamed(to)) return { from: to, to };
  const older = await reader.findOlder(isNamed);
  if (older.ok) return byContent(older.value.catalog_sha256) ?? "changes_not_stored";
  if (older.fault !== "missing") return "unreadable";
  const hasAny = ({ locales }: Manifest) =>
    Object.values(locales).some((entry) => messageSha256(entry) === name);
  const isOfOther = hasAny(to) || (await reader.findOlder(hasAny)).ok;
  return isOfOther ? "locale_mismatch" : "generation_not_retained";
}

export function localeIn(
  { locales }: Manifest,
  { locale, defaultLocale }: Pick<WantedDiff, "locale" | "defaultLocale">,
): string {
  const parsed = parseLocale(locale);
  return negotiateLocale(parsed.ok ? parsed.tag : "", locales, defaultLocale).locale;
}

function versionFields({ generation, published_at, catalog_sha256 }: VersionFields): VersionFields {
  return { generation, published_at, catalog_sha256 };
}

const NO_PARTS: readonly string[] = [];

/** Lists the blobs of a diff, none for the current version; undefined if it lacks the locale. */
function partsOf(from: Manifest | StoredDiff, locale: string): readonly string[] | undefined {
  if (!("common" in from)) return NO_PARTS;
  const local = Object.hasOwn(from.local, locale) ? from.local[locale] : undefined;
  return local === undefined ? undefined : [from.common, local];
}

function refuseDiff(code: keyof typeof REASONS, from: string): Refusal {
  const detail = `${from} ${REASONS[code]}. Fetch the whole catalog.`;
  return { problem: { status: 404, code, detail } };
}

export const UNREADABLE: Refusal = {
  problem: {
    status: 503,
    code: "catalog_unreadable",
    detail: "The catalog cannot be read now. Try again later.",
  },
  headers: { "retry-after": "10" },
};
