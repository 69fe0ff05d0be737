/** Brings a stored catalog up to date, or into another language, with as few bytes as possible. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import {
  LocationsRequestSchema,
  type LocationsResponse,
  LocationsResponseSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import { type PackedNames, unpackNames } from "../../src/catalog/packed-names.ts";
import { CatalogError } from "./api.ts";
import { applyDiff, type CatalogDiff } from "./apply-diff.ts";
import { describeAnswer, readAnswer, unreachable } from "./read-answer.ts";

/** An answer of the service, as a client stores it. */
export interface CatalogCopy {
  /** A `LocationsResponse` in protobuf. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of the bytes, in hex: `Catalog-Sha256`. */
  readonly sha256: string;
  /** `Catalog-Version`. */
  readonly version: number;
  /** Of the regions' names: `Content-Language`. */
  readonly language: string;
}

/** Where the catalog comes from. */
export interface Source {
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string;
  /** A BCP 47 language tag; the service's default without one. */
  readonly locale?: string | undefined;
  /** For what is sent with each request, or for a service binding. */
  readonly fetch?: typeof fetch | undefined;
  /** Ends the requests. */
  readonly signal?: AbortSignal | undefined;
}

/** What an answer says of itself. */
type Described = Omit<CatalogCopy, "bytes">;

/**
 * Returns the current catalog: the copy itself if it is current. Fetches only what changed where that
 * leads to the served bytes, and everything otherwise.
 *
 * @throws CatalogError if the service cannot be reached or refuses the locale. The copy stays good.
 */
export async function refresh(source: Source, copy?: CatalogCopy): Promise<CatalogCopy> {
  if (copy === undefined) return download(source);
  const newest = await describeNewest(source);
  // The answer to a GET says what is wrong.
  if (newest === undefined) return download(source);
  // A location that has not seen the copy's version yet.
  if (newest.version < copy.version) return copy;
  const current = await change(source, { copy, into: newest });
  if (current !== undefined) return current;
  const whole = await download(source);
  return whole.version < copy.version ? copy : whole;
}

/**
 * Returns the current catalog in the language of the source. Fetches only what differs from a copy in
 * another language where that leads to the served bytes, and everything otherwise.
 *
 * @throws CatalogError as `refresh` does.
 */
export async function translate(source: Source, copy: CatalogCopy): Promise<CatalogCopy> {
  const newest = await describeNewest(source);
  // A location that has not seen the copy's version yet has no diff from it.
  const isReachable = newest !== undefined && newest.version >= copy.version;
  const current = isReachable ? await change(source, { copy, into: newest }) : undefined;
  return current ?? download(source);
}

/** SHA-256 in hex. Browsers have it on HTTPS and on loopback only. */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns what the service has now; undefined if it does not say. */
async function describeNewest(source: Source): Promise<Described | undefined> {
  const head = await ask(source, headUrl(source), "HEAD").catch(() => undefined);
  // Chromium calls a request aborted whose body nobody has read, even without one.
  await head?.text();
  return head?.ok === true ? describeAnswer(head.headers) : undefined;
}

interface Change {
  readonly copy: CatalogCopy;
  readonly into: Described;
}

/** Changes the version and the language of a copy as needed; undefined if that leads elsewhere. */
async function change(source: Source, { copy, into }: Change): Promise<CatalogCopy | undefined> {
  const isSame = into.version === copy.version && into.language === copy.language;
  if (into.sha256 === copy.sha256) return isSame ? copy : { ...into, bytes: copy.bytes };
  const bytes = await changedBytes(source, { copy, into }).catch(() => undefined);
  const isRight = bytes !== undefined && (await sha256Of(bytes)) === into.sha256;
  return isRight ? { ...into, bytes } : undefined;
}

/** Returns what the bytes become, as far as the answers of the service are understood. */
async function changedBytes(source: Source, { copy, into }: Change) {
  const isOlder = copy.version !== into.version;
  const isTranslated = copy.language !== into.language;
  const [diff, names] = await Promise.all([
    isOlder && askFor<CatalogDiff>(source, "diff", { from: copy.sha256, locale: copy.language }),
    isTranslated && askFor<PackedNames>(source, "names", { locale: into.language, v: into.sha256 }),
  ]);
  let catalog = fromBinary(LocationsResponseSchema, copy.bytes);
  if (diff) {
    if (diff.locale !== copy.language) throw new Error("the diff is of another language");
    catalog = applyDiff(catalog, diff);
  }
  if (names) catalog = withNames(catalog, names);
  return toBinary(LocationsResponseSchema, catalog);
}

function withNames(catalog: LocationsResponse, packed: PackedNames): LocationsResponse {
  const names = unpackNames(catalog.regions, packed);
  const regions = catalog.regions.map((region, at) => {
    const { name, slug } = names[at] ?? region;
    return { ...region, nameLocalized: name, slugLocalized: slug };
  });
  return { ...catalog, regions };
}

/** Fetches what changes a catalog. Whoever applies it compares the hash of the result. */
async function askFor<T>(
  { baseUrl, fetch: send = fetch, signal }: Source,
  what: "diff" | "names",
  query: { readonly [name: string]: string },
): Promise<T> {
  const url = `${baseUrl}/catalog/${what}?${new URLSearchParams(query).toString()}`;
  const answer = await send(url, signal ? { signal } : {});
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return (await answer.json()) as T; // a wrong one leads to another hash
}

/** Sends a request past the caches: the caller stores the answer, and theirs might be older. */
function ask({ fetch: send = fetch, signal }: Source, url: string, method: "GET" | "HEAD") {
  // A Worker from before 2024-11-11 refuses what its requests do not have.
  const isCached = "cache" in Request.prototype;
  return send(url, {
    method,
    ...(isCached && { cache: "no-store" as const }),
    ...(signal && { signal }),
  });
}

/** Calls the method. Without Connect's own client: Workers refuse a part of its requests. */
async function download(source: Source): Promise<CatalogCopy> {
  const answer = await ask(source, callUrl(source), "GET").catch((cause: unknown) => {
    if (source.signal?.aborted === true) throw cause;
    throw unreachable(source.baseUrl, cause);
  });
  const copy = await readAnswer(answer, source.baseUrl);
  if ((await sha256Of(copy.bytes)) === copy.sha256) return copy;
  const message = `the answer of ${source.baseUrl} is damaged: try again`;
  throw new CatalogError({ code: "unavailable", message, retryAfterSeconds: null });
}

/** The call as Connect has it over GET, to the byte: a page may have preloaded it. */
function callUrl(source: Source): string {
  return `${methodUrl(source)}?connect=v1&base64=1&encoding=proto&message=${encodedRequest(source)}`;
}

/** In another order: services up to 0.2 offer dictionaries, and Chromium fails at a HEAD that one matches. */
function headUrl(source: Source): string {
  return `${methodUrl(source)}?connect=v1&encoding=proto&base64=1&message=${encodedRequest(source)}`;
}

function methodUrl({ baseUrl }: Source): string {
  return `${baseUrl}/locations.v1.LocationsService/GetLocationsV1`;
}

/** The request in base64. */
function encodedRequest({ locale = "" }: Source): string {
  const request = create(LocationsRequestSchema, { locale });
  return base64Encode(toBinary(LocationsRequestSchema, request), "url");
}
