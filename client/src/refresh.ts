/** Brings a stored catalog up to date with as few bytes as possible. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import {
  LocationsRequestSchema,
  LocationsResponseSchema,
  LocationsService,
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
 * @throws ConnectError if the service cannot be reached or refuses the locale. The copy stays good.
 */
export async function refresh(source: Source, copy?: CatalogCopy): Promise<CatalogCopy> {
  if (copy === undefined) return download(source);
  const head = await (source.fetch ?? fetch)(callUrl(source), {
    method: "HEAD",
    cache: "no-store",
    signal: source.signal ?? null,
  }).catch(() => undefined);
  // Chromium calls a request aborted whose body nobody has read, even without one.
  await head?.text();
  // The answer to a GET says what is wrong.
  if (head?.ok !== true) return download(source);
  const newest = describe(head.headers);
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
  const answer = await (source.fetch ?? fetch)(
    `${source.baseUrl}/catalog/diff?${query.toString()}`,
    { signal: source.signal ?? null },
  );
  if (!answer.ok) return undefined;
  const diff: CatalogDiff = await answer.json();
  if (diff.locale !== copy.language) return undefined;
  const catalog = applyDiff(fromBinary(LocationsResponseSchema, copy.bytes), diff);
  return toBinary(LocationsResponseSchema, catalog);
}

async function download(source: Source): Promise<CatalogCopy> {
  const { locale = "", signal } = source;
  let copy: CatalogCopy | undefined;
  const transport = createConnectTransport({
    baseUrl: source.baseUrl,
    useBinaryFormat: true,
    useHttpGet: true,
    // Keeps the bytes as they came, whose hash names them.
    fetch: async (input, init) => {
      // The caller stores the answer; the browser's cache might even have an older one.
      const answer = await (source.fetch ?? fetch)(input, { ...init, cache: "no-store" }).catch(
        (cause: unknown) => {
          throw ConnectError.from(cause, Code.Unavailable);
        },
      );
      refuseForeign(answer, source.baseUrl);
      if (!answer.ok) return answer;
      const bytes = new Uint8Array(await answer.arrayBuffer());
      copy = { ...describe(answer.headers), bytes };
      return new Response(bytes, answer);
    },
  });
  const client = createClient(LocationsService, transport);
  await client.getLocationsV1({ locale }, signal ? { signal } : {});
  if (copy === undefined || (await sha256Of(copy.bytes)) !== copy.sha256)
    throw new Error(`the answer of ${source.baseUrl} is damaged: try again`);
  return copy;
}

/**
 * Refuses what no service of this contract answers, such as the page that a web application has for
 * every path.
 */
function refuseForeign({ ok, status, headers }: Response, baseUrl: string): void {
  const type = headers.get("content-type")?.split(";", 1)[0] ?? "";
  if (type === (ok ? "application/proto" : "application/json")) return;
  if (!ok && status !== 404) return;
  const what = type === "" ? "something unnamed" : type;
  throw new ConnectError(
    `${baseUrl} answered with ${what} (HTTP ${status}) instead of the catalog: check that baseUrl is the address of the service`,
    Code.Unimplemented,
  );
}

/** The call as Connect has it over GET. */
function callUrl({ baseUrl, locale = "" }: Source): string {
  const request = toBinary(LocationsRequestSchema, create(LocationsRequestSchema, { locale }));
  const message = base64Encode(request, "url");
  return `${baseUrl}/locations.v1.LocationsService/GetLocationsV1?connect=v1&encoding=proto&base64=1&message=${message}`;
}

function describe(headers: Headers): Omit<CatalogCopy, "bytes"> {
  return {
    sha256: headers.get("catalog-sha256") ?? "",
    version: Number(headers.get("catalog-version")),
    language: headers.get("content-language") ?? "",
  };
}
