/** Brings a stored catalog up to date with as few bytes as possible. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import {
  LocationsRequestSchema,
  LocationsResponseSchema,
} from "../../gen/locations/v1/locations_pb.ts";
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

/**
 * Returns the current catalog: the copy itself if it is current. Fetches only what changed where that
 * leads to the served bytes, and everything otherwise.
 *
 * @throws CatalogError if the service cannot be reached or refuses the locale. The copy stays good.
 */
export async function refresh(source: Source, copy?: CatalogCopy): Promise<CatalogCopy> {
  if (copy === undefined) return download(source);
  const head = await ask(source, headUrl(source), "HEAD").catch(() => undefined);
  // Chromium calls a request aborted whose body nobody has read, even without one.
  await head?.text();
  // The answer to a GET says what is wrong.
  if (head?.ok !== true) return download(source);
  const newest = describeAnswer(head.headers);
  // A location that has not seen the copy's version yet.
  if (newest.version < copy.version) return copy;
  if (newest.sha256 === copy.sha256)
    return newest.version === copy.version ? copy : { ...newest, bytes: copy.bytes };
  const bytes = await patch(source, copy).catch(() => undefined);
  if (bytes !== undefined && (await sha256Of(bytes)) === newest.sha256) return { ...newest, bytes };
  const whole = await download(source);
  return whole.version < copy.version ? copy : whole;
}

/** SHA-256 in hex. Browsers have it on HTTPS and on loopback only. */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns the bytes of the newer version, as far as the diff is understood; undefined without one. */
async function patch(source: Source, copy: CatalogCopy) {
  const query = new URLSearchParams({ from: copy.sha256, locale: source.locale ?? "" });
  const { fetch: send = fetch, signal } = source;
  const url = `${source.baseUrl}/catalog/diff?${query.toString()}`;
  const answer = await send(url, signal ? { signal } : {});
  if (!answer.ok) return undefined;
  const diff: CatalogDiff = await answer.json();
  if (diff.locale !== copy.language) return undefined;
  const catalog = applyDiff(fromBinary(LocationsResponseSchema, copy.bytes), diff);
  return toBinary(LocationsResponseSchema, catalog);
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

/** In another order, because Chromium fails at a HEAD that one of its dictionaries matches. */
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
