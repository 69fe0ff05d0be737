/** Brings a stored catalog up to date with as few bytes as possible. Runs in browsers and in Node. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import {
  LocationsRequestSchema,
  LocationsResponseSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import { applyDiff, type CatalogDiff } from "./apply-diff.ts";

/** An answer of the service, as a client stores it. */
export interface CatalogCopy {
  /** A `LocationsResponse` in protobuf. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of the bytes, in hex: `Catalog-Sha256`. */
  readonly sha256: string;
  /** `Catalog-Version`. */
  readonly version: number;
  readonly etag: string;
  /** Of the regions' names: `Content-Language`. */
  readonly language: string;
}

export interface Source {
  /** Origin of the service. */
  readonly service: string;
  readonly locale: string;
}

/**
 * Returns the current catalog: the copy itself if it is current.
 *
 * @throws Error if the service cannot be reached or refuses the locale. Keep the copy and try later.
 */
export async function refresh(source: Source, copy?: CatalogCopy): Promise<CatalogCopy> {
  if (copy === undefined) return download(source);
  const headers = { "if-none-match": copy.etag };
  const answer = await fetch(callUrl(source), { method: "HEAD", headers });
  if (answer.status === 304) return copy;
  if (!answer.ok) throw new Error(`the service answers ${answer.status}`);
  const newest = describe(answer);
  // A location that has not seen the copy's version yet.
  if (newest.version < copy.version) return copy;
  if (newest.sha256 === copy.sha256) return { ...newest, bytes: copy.bytes };
  const bytes = await patch(source, copy);
  if (bytes !== undefined && (await sha256Of(bytes)) === newest.sha256) return { ...newest, bytes };
  return download(source);
}

/** Returns the bytes of the newer version; undefined if no diff leads there. */
async function patch({ service, locale }: Source, copy: CatalogCopy) {
  const query = new URLSearchParams({ from: copy.sha256, locale });
  const answer = await fetch(`${service}/catalog/diff?${query.toString()}`);
  if (answer.status === 404) return undefined;
  if (!answer.ok) throw new Error(`the service answers ${answer.status}`);
  const diff: CatalogDiff = await answer.json();
  if (diff.locale !== copy.language) return undefined;
  const catalog = applyDiff(fromBinary(LocationsResponseSchema, copy.bytes), diff);
  return toBinary(LocationsResponseSchema, catalog);
}

async function download(source: Source): Promise<CatalogCopy> {
  // The caller stores the answer; the browser's cache might even have an older one.
  const answer = await fetch(callUrl(source), { cache: "no-store" });
  if (!answer.ok) throw new Error(await answer.text());
  const copy = { ...describe(answer), bytes: new Uint8Array(await answer.arrayBuffer()) };
  if ((await sha256Of(copy.bytes)) !== copy.sha256) throw new Error("the answer is damaged");
  return copy;
}

/** The call as Connect has it over GET. */
function callUrl({ service, locale }: Source): string {
  const request = toBinary(LocationsRequestSchema, create(LocationsRequestSchema, { locale }));
  const message = base64Encode(request, "url");
  return `${service}/locations.v1.LocationsService/GetLocationsV1?connect=v1&encoding=proto&base64=1&message=${message}`;
}

function describe({ headers }: Response): Omit<CatalogCopy, "bytes"> {
  return {
    sha256: headers.get("catalog-sha256") ?? "",
    version: Number(headers.get("catalog-version")),
    etag: headers.get("etag") ?? "",
    language: headers.get("content-language") ?? "",
  };
}

/** Browsers have `crypto.subtle` on HTTPS and on loopback only. */
async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
