/** Brings a stored catalog up to date, or into another language, with as few bytes as possible. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import {
  LocationsRequestSchema,
  type LocationsResponse,
  LocationsResponseSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import { type PackedNames, unpackNames } from "../../src/catalog/packed-names.ts";
import { applyDiff, type CatalogDiff } from "./apply-diff.ts";
import {
  type CatalogCopy,
  damaged,
  describeAnswer,
  JSON_TYPE,
  load,
  PROTO,
  type Source,
} from "./read-answer.ts";
import { sha256Of } from "./sha256.ts";

export type { CatalogCopy, Source } from "./read-answer.ts";

/** The headers of an answer. */
type Described = Omit<CatalogCopy, "bytes">;

/**
 * Returns the current catalog in the language of the source: the copy itself if it is that. Fetches only
 * what differs from the copy, which may be in another language, where that leads to the served bytes,
 * and everything otherwise.
 *
 * @throws CatalogError if the service cannot be reached, refuses the locale, or something else answers.
 *   The copy stays good.
 */
export async function refresh(source: Source, copy?: CatalogCopy): Promise<CatalogCopy> {
  if (copy === undefined) return download(source);
  // If a HEAD fails, the answer to the GET says why.
  const newest = await describeNewest(source);
  // A location that has not seen the copy's version yet.
  const isBehind = (other: Described) =>
    other.version < copy.version && other.language === copy.language;
  if (newest !== undefined && isBehind(newest)) return copy;
  const isReachable = newest !== undefined && newest.version >= copy.version;
  const current = isReachable ? await change(source, { copy, into: newest }) : undefined;
  if (current !== undefined) return current;
  const whole = await download(source);
  return isBehind(whole) ? copy : whole;
}

/** Returns what the service has now; undefined if it does not say. */
async function describeNewest(source: Source): Promise<Described | undefined> {
  const head = { url: headUrl(source), method: "HEAD", type: PROTO } as const;
  const newest = await load(source, head).catch(() => undefined);
  const described = newest && describeAnswer(newest.headers);
  return described && isOfService(described) ? described : undefined;
}

/** A cache on the way may have dropped headers. */
function isOfService({ sha256, version, language }: Described): boolean {
  return sha256 !== "" && version > 0 && language !== "";
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
  source: Source,
  what: "diff" | "names",
  query: { readonly [name: string]: string },
): Promise<T> {
  const url = `${source.baseUrl}/catalog/${what}?${new URLSearchParams(query).toString()}`;
  const { bytes } = await load(source, { url, type: JSON_TYPE, mayBeCached: true });
  return JSON.parse(new TextDecoder().decode(bytes)) as T; // a wrong one leads to another hash
}

/** Calls the method. Without Connect's own client: Workers refuse a part of its requests. */
async function download(source: Source): Promise<CatalogCopy> {
  const { headers, bytes } = await load(source, { url: callUrl(source), type: PROTO });
  const copy = { ...describeAnswer(headers), bytes };
  if (isOfService(copy) && (await sha256Of(bytes)) === copy.sha256) return copy;
  throw damaged(source.baseUrl);
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
