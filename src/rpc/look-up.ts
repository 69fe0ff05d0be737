import { entityTag, matchesEntityTag } from "../catalog/entity-tag.ts";
import { type LocaleFallback, negotiateLocale } from "../catalog/locale.ts";
import type { Body, Coding, LocaleEntry, Manifest, Representation } from "../catalog/manifest.ts";
import type { Caller, CatalogMemory, CatalogReader } from "../storage/catalog-reader.ts";

/** Where answers come from. */
export interface CatalogSource<R = CatalogReader> {
  readonly reader: R;
  /** Locale of a request that names none; a published one. */
  readonly defaultLocale: string;
}

/** A reader that also says what it holds. */
export type Reader = CatalogReader & CatalogMemory;

/** What a request asks of the published catalog. */
export interface Query {
  /** Tag of `parseLocale`. */
  readonly tag: string;
  readonly representation: Representation;
  /** Codings that the client accepts, best first. */
  readonly codings: readonly Coding[];
  /** Value of If-None-Match, null where the request is not conditional. */
  readonly ifNoneMatch: string | null;
  /** False for HEAD, which the manifest alone answers. */
  readonly withBody: boolean;
}

/** One body of one published version: what headers are made from. */
export interface Variant {
  readonly manifest: Manifest;
  readonly locale: string;
  readonly fallback: LocaleFallback;
  readonly entry: LocaleEntry;
  readonly representation: Representation;
  readonly coding: Coding;
  readonly body: Body;
}

/** A variant with its bytes. */
export interface FoundBody {
  readonly kind: "body";
  readonly variant: Variant;
  readonly content: Blob;
}

/** A variant with as much of it as the request needs. */
export type Found =
  | FoundBody
  | { readonly kind: "head"; readonly variant: Variant }
  | { readonly kind: "not_modified"; readonly variant: Variant };

export type LookUpFailure = "nothing_published" | "unavailable" | "data_loss";

export type LookUpResult =
  | { readonly ok: true; readonly found: Found }
  | { readonly ok: false; readonly reason: LookUpFailure };

/** Finds the body that answers a query. Rejects if the caller's signal aborts. */
export async function lookUp(
  { reader, defaultLocale }: CatalogSource,
  query: Query,
  caller: Caller,
): Promise<LookUpResult> {
  const current = await reader.current(caller);
  if (!current.ok) return current;
  const variant = selectVariant(query, current.manifest, defaultLocale);
  if (variant === undefined) return UNPUBLISHED;
  const found = withoutBody(query, variant);
  if (found !== undefined) return { ok: true, found };
  const { manifest, locale, representation, fallback } = variant;
  const selection = { manifest, locale, representation, codings: query.codings };
  const result = await reader.open(selection, caller);
  if (!result.ok) return result;
  const { content, ...opened } = result.opened;
  return { ok: true, found: { kind: "body", variant: { ...opened, fallback }, content } };
}

/** The same without waiting; undefined where a store must be asked. */
export function peek(
  { reader, defaultLocale }: CatalogSource<CatalogMemory>,
  query: Query,
): LookUpResult | undefined {
  const current = reader.heldCurrent();
  if (!current?.ok) return current;
  const variant = selectVariant(query, current.manifest, defaultLocale);
  if (variant === undefined) return UNPUBLISHED;
  const found = withoutBody(query, variant);
  if (found !== undefined) return { ok: true, found };
  const content = reader.heldContent(variant.body);
  return content && { ok: true, found: { kind: "body", variant, content } };
}

/** What is found where the manifest alone answers. */
function withoutBody({ ifNoneMatch, withBody }: Query, variant: Variant): Found | undefined {
  if (ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, entityTag(variant.body)))
    return { kind: "not_modified", variant };
  return withBody ? undefined : { kind: "head", variant };
}

const UNPUBLISHED: LookUpResult = { ok: false, reason: "unavailable" };

/**
 * The best variant for a query; undefined where its locale is not published. Storage is asked for
 * published locales only, whatever a caller or the configuration says.
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
