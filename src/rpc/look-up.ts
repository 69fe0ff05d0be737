import { type LocaleFallback, negotiateLocale } from "../catalog/locale.ts";
import type { Body, Coding, LocaleEntry, Manifest, Representation } from "../catalog/manifest.ts";
import type {
  Caller,
  CatalogMemory,
  CatalogReader,
  CurrentResult,
  Opened,
  Selection,
} from "../storage/catalog-reader.ts";
import { entityTag, matchesEntityTag } from "./entity-tag.ts";

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
  const wanted = decide(query, await reader.current(caller), defaultLocale);
  if ("ok" in wanted) return wanted;
  const result = await reader.open(wanted.selection, caller);
  return result.ok ? foundBody(result.opened, wanted.fallback) : result;
}

/** The same without waiting; undefined where a store must be asked. */
export function lookUpHeld(
  { reader, defaultLocale }: CatalogSource<CatalogMemory>,
  query: Query,
): LookUpResult | undefined {
  const current = reader.heldCurrent();
  if (current === undefined) return undefined;
  const wanted = decide(query, current, defaultLocale);
  if ("ok" in wanted) return wanted;
  const opened = reader.heldBody(wanted.selection);
  return opened && foundBody(opened, wanted.fallback);
}

/** A body that is to be opened. */
interface Wanted {
  readonly selection: Selection;
  readonly fallback: LocaleFallback;
}

/** What the current version alone answers, else the body to open. */
function decide(
  query: Query,
  current: CurrentResult,
  defaultLocale: string,
): LookUpResult | Wanted {
  if (!current.ok) return current;
  const { manifest } = current;
  const { representation, codings, ifNoneMatch, withBody } = query;
  const { locale, fallback } = negotiateLocale(query.tag, manifest.locales, defaultLocale);
  if (!withBody || ifNoneMatch !== null) {
    const variant = selectVariant(query, manifest, { locale, fallback });
    if (variant === undefined) return { ok: false, reason: "unavailable" };
    if (ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, entityTag(variant.body))) {
      return { ok: true, found: { kind: "not_modified", variant } };
    }
    if (!withBody) return { ok: true, found: { kind: "head", variant } };
  }
  // Storage is asked for published locales only, whatever a caller or the configuration says.
  if (!Object.hasOwn(manifest.locales, locale)) return { ok: false, reason: "unavailable" };
  return { selection: { manifest, locale, representation, codings }, fallback };
}

function foundBody({ content, ...opened }: Opened, fallback: LocaleFallback): LookUpResult {
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
