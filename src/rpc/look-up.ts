import { type LocaleFallback, negotiateLocale } from "../catalog/locale.ts";
import type { Body, Coding, LocaleEntry, Manifest, Representation } from "../catalog/manifest.ts";
import type { Caller, CatalogReader } from "../storage/catalog-reader.ts";
import { entityTag, matchesEntityTag } from "./entity-tag.ts";

/** Where answers come from. */
export interface CatalogSource {
  readonly reader: CatalogReader;
  /** Locale of a request that names none; a published one. */
  readonly defaultLocale: string;
}

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

/** A variant with as much of it as the request needs. */
export type Found =
  | { readonly kind: "body"; readonly variant: Variant; readonly content: Blob }
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
  const { manifest } = current;
  const { locale, fallback } = negotiateLocale(query.tag, manifest.locales, defaultLocale);
  if (!query.withBody || query.ifNoneMatch !== null) {
    const variant = selectVariant(query, manifest, { locale, fallback });
    if (variant === undefined) return { ok: false, reason: "unavailable" };
    if (
      query.ifNoneMatch !== null &&
      matchesEntityTag(query.ifNoneMatch, entityTag(variant.body))
    ) {
      return { ok: true, found: { kind: "not_modified", variant } };
    }
    if (!query.withBody) return { ok: true, found: { kind: "head", variant } };
  }
  // Storage is asked for published locales only, whatever a caller or the configuration says.
  if (!Object.hasOwn(manifest.locales, locale)) return { ok: false, reason: "unavailable" };
  const { representation, codings } = query;
  const result = await reader.open({ manifest, locale, representation, codings }, caller);
  if (!result.ok) return result;
  const { content, ...opened } = result.opened;
  return { ok: true, found: { kind: "body", variant: { ...opened, fallback }, content } };
}

function selectVariant(
  { representation, codings }: Query,
  manifest: Manifest,
  { locale, fallback }: { locale: string; fallback: LocaleFallback },
): Variant | undefined {
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
