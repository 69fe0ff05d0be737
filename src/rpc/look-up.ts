import { type LocaleFallback, negotiateLocale, type ParsedLocale } from "../catalog/locale.ts";
import { type AnyCoding, type Body, composeBody, type Representation } from "../parts/compose.ts";
import { type LocaleEntry, type Manifest, messageSha256 } from "../parts/manifest.ts";
import { checkPreconditions, type Conditions } from "./preconditions.ts";
import type { CachedCatalogReader } from "../storage/cached-catalog-reader.ts";
import type { BodyContent, Origin } from "../storage/catalog-reader.ts";
import { settledWithin } from "../platform/deadline.ts";

/** The catalog that answers come from. */
export interface CatalogSource {
  readonly reader: CachedCatalogReader;
  /** Locale for a request that names none. If it is not published, another one answers. */
  readonly defaultLocale: string;
}

export interface Query {
  readonly tag: string;
  readonly representation: Representation;
  /** Codings that the client accepts, best first. */
  readonly codings: readonly AnyCoding[];
  /** The required Catalog-Sha256 of the answer; null for the current version. */
  readonly pin: string | null;
  /** The conditions of a GET or HEAD; null for a POST, which has none. */
  readonly conditions: Conditions | null;
  /** False for HEAD, which needs only the manifest. */
  readonly withBody: boolean;
}

/** One body of one published version; its fields determine the headers. */
export interface Variant {
  readonly manifest: Manifest;
  readonly locale: string;
  readonly fallback: LocaleFallback;
  /** Whether the request has named this version. */
  readonly isPinned: boolean;
  readonly entry: LocaleEntry;
  readonly representation: Representation;
  readonly coding: AnyCoding;
  readonly body: Body;
}

/** Returns the strong tag of a variant, unique per version, locale, representation and coding. */
export function entityTag({
  body,
  representation,
}: Pick<Variant, "body" | "representation">): string {
  return representation === "grpc-web-text" ? `"text-${body.key}"` : `"${body.key}"`;
}

/** A variant with its content, which is before base64. */
interface FoundBody {
  readonly kind: "body";
  readonly variant: Variant;
  readonly content: BodyContent;
  readonly origin: Origin;
}

/** A variant with the content that the request needs. */
export type Found =
  | FoundBody
  | { readonly kind: "head"; readonly variant: Variant }
  | { readonly kind: "not_modified"; readonly variant: Variant }
  | { readonly kind: "precondition_failed"; readonly variant: Variant };

type LookUpFailure = "nothing_published" | "unavailable" | "data_loss" | "not_retained";

type MalformedLocale = Extract<ParsedLocale, { ok: false }>["reason"];

/** A status for which neither protocol has an error. */
export type BareStatus = 404 | 405 | 415;

/** A call that cannot be answered. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly reason: LookUpFailure | "deadline_exceeded" | MalformedLocale | BareStatus;

  constructor(reason: CallError["reason"]) {
    super(String(reason));
    this.reason = reason;
  }
}

export type LookUpResult =
  | { readonly ok: true; readonly found: Found }
  | { readonly ok: false; readonly reason: LookUpFailure };

/** Longest time that one request waits for stores, for the manifest and the body together. */
const STORES_BUDGET_MS = 5_000;

/** Finds the body that answers a query. `unavailable` if the stores take more than five seconds. */
export async function lookUp(source: CatalogSource, query: Query): Promise<LookUpResult> {
  return settledWithin(STORES_BUDGET_MS, find(source, query), () => UNAVAILABLE);
}

async function find({ reader, defaultLocale }: CatalogSource, query: Query): Promise<LookUpResult> {
  const current = await reader.current();
  if (!current.ok) return current;
  const wanted = await findVersion({ reader, defaultLocale }, query, current.manifest);
  if (!wanted.ok) return wanted;
  const variant = selectVariant(query, wanted.manifest, defaultLocale);
  if (variant === undefined) return UNAVAILABLE;
  const bodiless = withoutBody(query, variant);
  if (bodiless !== undefined) return { ok: true, found: bodiless };
  const result = await reader.open(variant);
  if (!result.ok) {
    const { generation } = variant.manifest;
    const isCollected =
      result.reason === "data_loss" &&
      generation < current.manifest.generation &&
      !(await reader.isListed(generation));
    return isCollected ? NOT_RETAINED : result;
  }
  const { content, origin } = result;
  return { ok: true, found: { kind: "body", variant, content, origin } };
}

type VersionResult =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly reason: "not_retained" | "unavailable" };

/** Finds the version that the query asks for, if it is retained. */
export async function findVersion(
  { reader, defaultLocale }: CatalogSource,
  { pin, tag }: Pick<Query, "pin" | "tag">,
  current: Manifest,
): Promise<VersionResult> {
  const isWanted = (manifest: Manifest) => hasPin(pin, tag, manifest, defaultLocale);
  if (isWanted(current)) return { ok: true, manifest: current };
  if (pin === null || !SHA256.test(pin)) return NOT_RETAINED;
  // Another isolate may have served a version that this one has not seen.
  const newest = await reader.newest();
  if (newest.ok && isWanted(newest.manifest)) return newest;
  const older = await reader.findOlder(isWanted);
  if (older.ok) return { ok: true, manifest: older.value };
  return older.fault === "missing" ? NOT_RETAINED : UNAVAILABLE;
}

const SHA256 = /^[0-9a-f]{64}$/;
const UNAVAILABLE = { ok: false, reason: "unavailable" } as const;
const NOT_RETAINED = { ok: false, reason: "not_retained" } as const;

function hasPin(
  pin: string | null,
  tag: string,
  { locales }: Manifest,
  defaultLocale: string,
): boolean {
  if (pin === null) return true;
  const entry = locales[negotiateLocale(tag, locales, defaultLocale).locale];
  return entry !== undefined && messageSha256(entry) === pin;
}

/** Finds the body in memory. Returns undefined if a store must be read. */
export function peek(
  { reader, defaultLocale }: CatalogSource,
  query: Query,
): LookUpResult | undefined {
  const current = reader.cachedCurrent();
  if (current === undefined) return undefined;
  if (!hasPin(query.pin, query.tag, current, defaultLocale)) return undefined;
  const variant = selectVariant(query, current, defaultLocale);
  if (variant === undefined) return UNAVAILABLE;
  const found = withoutBody(query, variant);
  if (found !== undefined) return { ok: true, found };
  const content = reader.cachedContent(variant.body);
  return content && { ok: true, found: { kind: "body", variant, content, origin: "memory" } };
}

/** Answers a HEAD or a conditional request from the manifest alone. */
function withoutBody({ conditions, withBody }: Query, variant: Variant): Found | undefined {
  if (conditions === null) return undefined;
  const etag = entityTag(variant);
  const modifiedAt = variant.manifest.published_at;
  const kind = checkPreconditions(conditions, { etag, modifiedAt });
  if (kind !== undefined) return { kind, variant };
  return withBody ? undefined : { kind: "head", variant };
}

/** Selects the best variant; undefined if there is none. So no unpublished locale reaches storage. */
function selectVariant(
  { tag, pin, representation, codings }: Query,
  manifest: Manifest,
  defaultLocale: string,
): Variant | undefined {
  const isPinned = pin !== null;
  const { locale, fallback } = negotiateLocale(tag, manifest.locales, defaultLocale);
  const entry = Object.hasOwn(manifest.locales, locale) ? manifest.locales[locale] : undefined;
  if (entry === undefined) return undefined;
  for (const coding of codings) {
    const body = composeBody(manifest, { locale, representation, coding });
    if (body !== undefined) {
      return { manifest, locale, fallback, isPinned, entry, representation, coding, body };
    }
  }
  return undefined;
}
