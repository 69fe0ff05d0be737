import { z } from "zod";
import { diffSchema } from "../../catalog/diff-schema.ts";
import { matchesEntityTag } from "../../catalog/entity-tag.ts";
import { sha256Hex } from "../../catalog/hash.ts";
import { negotiateLocale, parseLocale } from "../../catalog/locale.ts";
import type { Manifest, StoredDiff } from "../../catalog/manifest.ts";
import { nothingChanged } from "../../ingest/change-sample.ts";
import type { BlobReader, CatalogReader } from "../../storage/catalog-reader.ts";
import type { Copy } from "../../storage/catalog-store.ts";
import { worstFault } from "../../storage/hedged-reads.ts";
import { type Refusal, route } from "../http/route.ts";

export interface DiffDependencies {
  readonly reader: Pick<CatalogReader, "current" | "previous"> & BlobReader;
  readonly defaultLocale: string;
}

const DEADLINE_MS = 5_000;

const diffQuery = z.strictObject({
  from: z
    .string()
    .regex(/^(?:[1-9]\d{0,8}|[0-9a-f]{64})$/, "must be a generation or a SHA-256")
    .meta({
      description:
        "`Catalog-Version` or `Catalog-Sha256` of the answer that you have, or `to.catalog_sha256` of the diff that led to it.",
    }),
  locale: z
    .string()
    .default("")
    .refine((tag) => parseLocale(tag).ok, "must be a BCP 47 tag")
    .meta({ description: "Locale of the regions' names, as of the catalog itself." }),
});

/** `GET /catalog/diff`: the changes since a version that an app has, as an ingest has stored them. */
export function diffRoutes({ reader, defaultLocale }: DiffDependencies) {
  const diff = route({
    method: "get",
    path: "/catalog/diff",
    summary: "What to change in an earlier version to have the current one",
    description:
      "Every difference of the last few contents, in one locale; nothing for the current one. Fetch the whole catalog if the answer is 404, or if its `locale` is not that of the names that you have.",
    access: "public",
    query: diffQuery,
    responses: {
      200: { description: "The changes, by list", body: diffSchema },
      304: { description: "The changes match the ETag that was sent" },
    },
    problems: {
      404: "`generation_not_retained`: there is no stored diff from that version. Fetch the whole catalog.",
      503: "`catalog_unreadable`: the stores do not answer",
    },
  }).answer(async ({ query, headers }) => {
    const caller = { signal: AbortSignal.timeout(DEADLINE_MS) };
    const current = await reader.current(caller).catch(() => UNREAD);
    if (!current.ok) return UNREADABLE;
    const { manifest } = current;
    const parsed = parseLocale(query.locale);
    const tag = parsed.ok ? parsed.tag : "";
    const { locale } = negotiateLocale(tag, manifest.locales, defaultLocale);
    const previous = (version: Manifest) => reader.previous(version, caller).catch(() => UNREAD);
    const from = await findSource(manifest, { from: query.from, locale, previous });
    if (from === "unreadable") return UNREADABLE;
    const parts = from && partsOf(from, locale);
    if (from === undefined || parts === undefined) return notStored(query.from, locale);
    const head = { from: describe(from), to: describe(manifest), locale };
    const etag = `"${sha256Hex(JSON.stringify([head, parts]))}"`;
    const shared = { etag, "cache-control": "public, max-age=60" };
    if (matchesEntityTag(headers.get("if-none-match") ?? "", etag))
      return { status: 304, headers: shared };
    if (parts === NOTHING)
      return { status: 200, body: { ...nothingChanged(locale), ...head }, headers: shared };
    const copies = await Promise.all(
      parts.map((sha256) => reader.blob(sha256, caller).catch(() => UNREAD)),
    );
    const fault = worstFault(copies);
    if (fault !== undefined)
      return fault.fault === "unreadable" ? UNREADABLE : notStored(query.from, locale);
    const pieces = copies.flatMap((copy) => (copy.ok ? [",", copy.value] : []));
    const body = new Blob([JSON.stringify(head).slice(0, -1), ...pieces, "}"]);
    return { status: 200, body: await body.arrayBuffer(), headers: shared };
  });
  return [diff];
}

type Version = Pick<StoredDiff, "generation" | "published_at" | "catalog_sha256">;

/**
 * Finds the version that an app has, by its generation, by the hash of its content or by that of its
 * message in a locale, which only its manifest has.
 */
async function findSource(
  manifest: Manifest,
  { from, locale, previous }: Wanted,
): Promise<Manifest | StoredDiff | "unreadable" | undefined> {
  const known = [manifest, ...manifest.diffs];
  const byContent = (content: string) => known.find((each) => each.catalog_sha256 === content);
  const named = byContent(from) ?? known.find(({ generation }) => String(generation) === from);
  if (named !== undefined || !/^[0-9a-f]{64}$/.test(from)) return named;
  let version = manifest;
  for (let back = 0; back < known.length; back++) {
    if (version.locales[locale]?.sha256 === from) return byContent(version.catalog_sha256);
    const before = await previous(version);
    if (!before.ok) return before.fault === "missing" ? undefined : "unreadable";
    version = before.value;
  }
  return undefined;
}

interface Wanted {
  readonly from: string;
  readonly locale: string;
  readonly previous: (version: Manifest) => Promise<Copy<Manifest>>;
}

function describe({ generation, published_at, catalog_sha256 }: Version): Version {
  return { generation, published_at, catalog_sha256 };
}

const NOTHING: readonly string[] = [];

/** Lists the blobs of a diff, none for the current version; undefined if it lacks the locale. */
function partsOf(from: Manifest | StoredDiff, locale: string): readonly string[] | undefined {
  if (!("common" in from)) return NOTHING;
  const local = Object.hasOwn(from.local, locale) ? from.local[locale] : undefined;
  return local === undefined ? undefined : [from.common, local];
}

function notStored(from: string, locale: string): Refusal {
  const detail = `No changes from ${from} to the current version are stored in ${locale}: that version is too old, or too much has changed. Fetch the whole catalog.`;
  return {
    problem: { status: 404, code: "generation_not_retained", detail },
  };
}

/** The result of a read that took too long. */
const UNREAD = { ok: false, fault: "unreadable", detail: "timed out" } as const;

const UNREADABLE: Refusal = {
  problem: {
    status: 503,
    code: "catalog_unreadable",
    detail: "The catalog cannot be read now. Try again later.",
  },
  headers: { "retry-after": "10" },
};
