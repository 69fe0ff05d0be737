import { z } from "zod";
import { diffCatalogs } from "../../catalog/diff.ts";
import { matchesEntityTag } from "../../catalog/entity-tag.ts";
import { sha256Hex } from "../../catalog/hash.ts";
import type { Manifest } from "../../catalog/manifest.ts";
import type { CatalogStore, Copy } from "../../storage/catalog-store.ts";
import type { EdgeCache } from "../../storage/edge-cache.ts";
import { tryReadBody } from "../../storage/read-body.ts";
import { diffSchema } from "../../catalog/diff-schema.ts";
import { wholeNumber } from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";

export interface DiffDependencies {
  readonly store: Pick<CatalogStore, "readGeneration" | "readBlob">;
  readonly cache: EdgeCache;
  readonly defaultLocale: string;
}

/** The most entities that an answer lists of each kind. Its counts are of all. */
const MAX_LISTED = 200;
const MAX_GENERATION = 1_000_000_000;

const diffQuery = z.strictObject({
  from: wholeNumber(1, MAX_GENERATION).meta({ description: "The generation before the changes." }),
  to: wholeNumber(1, MAX_GENERATION).meta({ description: "The generation after the changes." }),
});

type Diff = z.output<typeof diffSchema>;

/**
 * `GET /catalog/diff`: the changes between two retained versions. The edge caches each comparison, so
 * the number of retained versions bounds the cost.
 */
export function diffRoutes(deps: DiffDependencies) {
  const diff = route({
    method: "get",
    path: "/catalog/diff",
    summary: "What changed from one published version to another",
    access: "public",
    query: diffQuery,
    responses: {
      200: { description: "The changes, by list", body: diffSchema },
      304: { description: "The changes match the ETag that was sent" },
    },
    problems: {
      404: "`generation_not_retained`",
      503: "`catalog_unreadable`: the stores do not answer",
    },
  }).answer(async ({ query: { from, to }, headers }) => {
    const name = `catalog-diff/${from}/${to}`;
    const kept = await deps.cache.get(name);
    const made = kept === undefined ? await compare(deps, from, to) : undefined;
    if (made !== undefined && "problem" in made) return made;
    const text = kept ?? JSON.stringify(made);
    if (kept === undefined) deps.cache.put(name, text);
    const etag = `"${sha256Hex(text)}"`;
    const shared = { etag, "cache-control": "public, max-age=3600, stale-while-revalidate=86400" };
    if (matchesEntityTag(headers.get("if-none-match") ?? "", etag))
      return { status: 304, headers: shared };
    return { status: 200, body: JSON.parse(text) as Diff, headers: shared }; // made by `compare`
  });
  return [diff];
}

async function compare(
  { store, defaultLocale }: DiffDependencies,
  from: number,
  to: number,
): Promise<Diff | Refusal> {
  const before = await readVersion(store, from, defaultLocale);
  if ("problem" in before) return before;
  const after = await readVersion(store, to, defaultLocale);
  if ("problem" in after) return after;
  const changes = diffCatalogs({
    before: before.bytes,
    after: () => [after.bytes],
    maxListed: MAX_LISTED,
  });
  return {
    from: describe(before.manifest),
    to: describe(after.manifest),
    locale: defaultLocale,
    max_listed: MAX_LISTED,
    ...(changes as Pick<Diff, keyof typeof changes>), // differs by `readonly` only
  };
}

function describe({ generation, published_at, catalog_sha256 }: Manifest) {
  return { generation, published_at, catalog_sha256 };
}

async function readVersion(
  store: DiffDependencies["store"],
  generation: number,
  locale: string,
): Promise<{ readonly manifest: Manifest; readonly bytes: Uint8Array } | Refusal> {
  const manifest = await store.readGeneration(generation);
  if (!manifest.ok) return refuse(manifest.fault, generation);
  const body = manifest.value.locales[locale]?.bodies.proto.identity;
  if (body === undefined) return refuse("missing", generation);
  const bytes = await tryReadBody(store, body);
  return bytes.ok
    ? { manifest: manifest.value, bytes: bytes.value }
    : refuse(bytes.fault, generation);
}

function refuse(fault: Extract<Copy<never>, { ok: false }>["fault"], generation: number): Refusal {
  if (fault === "missing") {
    const detail = `Generation ${generation} is not retained. GET /admin/catalog/versions lists the retained ones.`;
    return { problem: { status: 404, code: "generation_not_retained", detail } };
  }
  const detail = `Generation ${generation} cannot be read now. Try again later.`;
  return {
    problem: { status: 503, code: "catalog_unreadable", detail },
    headers: { "retry-after": "10" },
  };
}
