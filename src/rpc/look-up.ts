import { entityTag, matchesEntityTag } from "../catalog/entity-tag.ts";
import { type LocaleFallback, negotiateLocale } from "../catalog/locale.ts";
import type { Body, Coding, LocaleEntry, Manifest, Representation } from "../catalog/manifest.ts";
import type { Caller, CatalogMemory, CatalogReader } from "../storage/catalog-reader.ts";
import type { Content } from "../storage/content.ts";
import { settledWithin } from "../storage/deadline.ts";

/** The catalog that answers come from. */
export interface CatalogSource<R = CatalogReader> {
  readonly reader: R;
  /** Published locale for a request that names none. */
  readonly defaultLocale: string;
}

/** A reader that can also answer from memory alone. */
export type Reader = CatalogReader & CatalogMemory;

/** A request to the published catalog. */
export interface Query {
  /** Canonical tag from `parseLocale`. */
  readonly tag: string;
  readonly representation: Representation;
  /** Codings that the client accepts, best first. */
  readonly codings: readonly Coding[];
  /** Value of If-None-Match; null if the request is unconditional. */
  readonly ifNoneMatch: string | null;
  /** False for HEAD, which needs only the manifest. */
  readonly withBody: boolean;
}

/** One body of one published version; its fields determine the headers. */
export interface Variant {
  readonly manifest: Manifest;
  readonly locale: string;
  readonly fallback: LocaleFallback;
  readonly entry: LocaleEntry;
  readonly representation: Representation;
  readonly coding: Coding;
  readonly body: Body;
}

/** A variant with its content. */
export interface FoundBody {
  readonly kind: "body";
  readonly variant: Variant;
  readonly content: Content;
}

/** A variant with the content that the request needs. */
export type Found =
  | FoundBody
  | { readonly kind: "head"; readonly variant: Variant }
  | { readonly kind: "not_modified"; readonly variant: Variant };

export type LookUpFailure = "nothing_published" | "unavailable" | "data_loss";

export type LookUpResult =
  | { readonly ok: true; readonly found: Found }
  | { readonly ok: false; readonly reason: LookUpFailure };

/** Longest time that one request waits for stores, for the manifest and the body together. */
const STORES_BUDGET_MS = 5_000;

/**
 * Finds the body that answers a query. Rejects if the caller's signal aborts. The catalog is
 * `unavailable` if the stores take more than five seconds.
 */
export async function lookUp(
  source: CatalogSource,
  query: Query,
  caller: Caller,
): Promise<LookUpResult> {
  return settledWithin(STORES_BUDGET_MS, find(source, query, caller), () => UNAVAILABLE);
}

async function find(
  { reader, defaultLocale }: CatalogSource,
  query: Query,
  caller: Caller,
): Promise<LookUpResult> {
  const current = await reader.current(caller);
  if (!current.ok) return current;
  const variant = selectVariant(query, current.manifest, defaultLocale);
  if (variant === undefined) return UNAVAILABLE;
  const found = withoutBody(query, variant);
  if (found !== undefined) return { ok: true, found };
  const { manifest, locale, representation, fallback } = variant;
  const selection = { manifest, locale, representation, codings: query.codings };
  const result = await reader.open(selection, caller);
  if (!result.ok) return result;
  const { content, ...opened } = result.opened;
  return { ok: true, found: { kind: "body", variant: { ...opened, fallback }, content } };
}

/** Finds the body in memory. Returns undefined if a store must be read. */
export function peek(
  { reader, defaultLocale }: CatalogSource<CatalogMemory>,
  query: Query,
): LookUpResult | undefined {
  const current = reader.heldCurrent();
  if (!current?.ok) return current;
  const variant = selectVariant(query, current.manifest, defaultLocale);
  if (variant === undefined) return UNAVAILABLE;
  const found = withoutBody(query, variant);
  if (found !== undefined) return { ok: true, found };
  const content = reader.heldContent(variant.body);
  return content && { ok: true, found: { kind: "body", variant, content } };
}

/** Answers a HEAD or a matching conditional request from the manifest alone. */
function withoutBody({ ifNoneMatch, withBody }: Query, variant: Variant): Found | undefined {
  if (ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, entityTag(variant.body)))
    return { kind: "not_modified", variant };
  return withBody ? undefined : { kind: "head", variant };
}

const UNAVAILABLE: LookUpResult = { ok: false, reason: "unavailable" };

/**
 * Selects the best variant for a query. Returns undefined if the negotiated locale is not
 * published, so no unpublished locale ever reaches storage.
 */
function selectVariant(
  { tag, representation, codings }: Query,
  manifest: Manifest,
  defaultLocale: string,
): Variant | undefined {
  const { locale, fallback } = negotiateLocale(tag, manifest.locales, defaultLocale);
  const entry = Object.hasOwn(manifest.locales, locale) ? manifest.locales[locale] : undefined;
  if (entry === undefined) return undefined;
  for (const coding of codings) {
    const body = entry.bodies[representation][coding];
    if (body !== undefined) {
      return { manifest, locale, fallback, entry, representation, coding, body };
    }
  }
  return undefined;
}
