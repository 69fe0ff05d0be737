import { FRAME_HEADER_BYTES, messageFrameHeader } from "../parts/framing.ts";
import { parseLocale } from "../catalog/locale.ts";
import { memoize } from "../platform/once.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import type { Representation } from "../parts/compose.ts";

/** The longest delay of a timer: 24.8 days. A longer one fires at once. */
export const TIMEOUT_MAX_MS = 2_147_483_647;

/** The parts of a request, apart from its body, that determine the answer. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Metadata from Cloudflare's edge; undefined if the request did not come through it. */
  readonly cf: Request["cf"] | undefined;
  /** Empty if the header is missing. */
  readonly contentType: string;
  readonly isGrpcWeb: boolean;
  /** When the client stops waiting, at most TIMEOUT_MAX_MS from now; undefined: never; NaN: malformed. */
  readonly deadlineAt: EpochMs | undefined;
}

/** Reads each property and header once, because each read costs a call out of JavaScript. */
export function readHead({ method, url, headers, cf }: Request): RequestHead {
  const contentType = headers.get("content-type") ?? "";
  // Only a POST can be gRPC-Web. Any other method is Connect's GET or is refused.
  const speaksGrpcWeb = method === "POST" && isGrpcWeb(contentType);
  const timeoutMs = speaksGrpcWeb
    ? parseGrpcTimeout(headers.get("grpc-timeout"))
    : parseConnectTimeout(headers.get("connect-timeout-ms"));
  const deadlineAt = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
  return { method, url, headers, cf, contentType, isGrpcWeb: speaksGrpcWeb, deadlineAt };
}

function parseConnectTimeout(value: string | null): DurationMs | undefined {
  if (value === null) return undefined;
  return /^\d{1,10}$/.test(value) ? Math.min(Number(value), TIMEOUT_MAX_MS) : NaN;
}

const GRPC_UNITS_MS: { readonly [unit: string]: number } = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

function parseGrpcTimeout(value: string | null): DurationMs | undefined {
  if (value === null) return undefined;
  const [, amount, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  return Math.min(Number(amount) * (GRPC_UNITS_MS[unit] ?? NaN), TIMEOUT_MAX_MS);
}

/** Whether a content type is gRPC-Web in base64. */
export function isGrpcWebText(contentType: string): boolean {
  return /^application\/grpc-web-text(?:\+proto)?$/i.test(contentType);
}

/** Whether a content type is gRPC-Web, which reports errors in a trailer frame. */
function isGrpcWeb(contentType: string): boolean {
  return /^application\/grpc-web/i.test(contentType);
}

function isGrpc(contentType: string): boolean {
  return /^application\/grpc/i.test(contentType);
}

/** Path of the one method. Written out, because the generated code takes long to load. */
export const METHOD_PATH = "/locations.v1.LocationsService/GetLocationsV1";
const SERVICE_PATH = METHOD_PATH.slice(0, METHOD_PATH.lastIndexOf("/") + 1);

/**
 * Whether a request addresses the service, has the path of another service's method, or uses gRPC on
 * any path outside `/admin`. Clients of all of these expect an error in their protocol.
 */
export function isRpcRequest({ url, contentType }: RequestHead): boolean {
  const pathStart = url.indexOf("/", url.indexOf("//") + "//".length);
  if (url.startsWith(SERVICE_PATH, pathStart)) return true;
  const path = url.slice(pathStart);
  if (/^\/admin/i.test(path)) return false;
  return ANY_METHOD_PATH.test(path) || isGrpc(contentType);
}

/** `/package.Service/Method`, with or without a query. */
const ANY_METHOD_PATH = /^\/\w+(?:\.\w+)+\/\w+(?:\?|$)/;

/** No usual message is longer in any encoding. */
const SHORT_BODY_MAX_BYTES = 64;

/** Returns the announced length of a body that is as short as usual, and undefined for any other. */
export function shortBodyBytes({ headers }: RequestHead): number | undefined {
  const text = headers.get("content-length") ?? "";
  return /^\d{1,2}$/.test(text) && Number(text) <= SHORT_BODY_MAX_BYTES ? Number(text) : undefined;
}

/** A call of the one method. */
export interface Call {
  readonly tag: string;
  readonly representation: Representation;
  /** The Catalog-Sha256 that the call is pinned to. */
  readonly pin: string | null;
}

/** Returns the locale in a message, given as Latin-1, if it has nothing else. */
type Decode = (message: string) => string | undefined;

const decodeProto: Decode = (message) => {
  if (message === "") return "";
  const start = String.fromCharCode(LOCALE_TAG, message.length - 2);
  return message.startsWith(start) ? message.slice(2) : undefined;
};

/** Tag of `string locale = 1` on the wire. The length of a locale is one byte. */
const LOCALE_TAG = (1 << 3) | 2;

const decodeJson: Decode = (message) => {
  const match = ONLY_A_LOCALE.exec(message);
  return match === null ? undefined : (match[1] ?? "");
};

const ONLY_A_LOCALE =
  /^[ \t\r\n]*\{[ \t\r\n]*(?:"locale"[ \t\r\n]*:[ \t\r\n]*"([^"\\]*)"[ \t\r\n]*)?\}[ \t\r\n]*$/;

const DECODERS = { proto: decodeProto, json: decodeJson };

/** Reads a body of exactly one uncompressed frame. */
function inFrame(decode: Decode): Decode {
  return (body) => {
    const header = toLatin1(messageFrameHeader(body.length - FRAME_HEADER_BYTES));
    return body.startsWith(header) ? decode(body.slice(FRAME_HEADER_BYTES)) : undefined;
  };
}

/** Reads base64, padded or not. */
function inBase64(decode: Decode): Decode {
  return (text) => {
    try {
      // atob overlooks spaces.
      return /\s/.test(text) ? undefined : decode(atob(text));
    } catch {
      return undefined;
    }
  };
}

/**
 * Reads a call in the forms that clients usually send, without the code of Connect and protobuf, which
 * take long to load. Returns undefined for a malformed or unusual request (`readUnusualCall`).
 */
export function readCall(head: RequestHead, body: Uint8Array): Call | undefined {
  const query = queryOf(head.url);
  if (query === undefined || !hasTime(head) || isCoded(head)) return undefined;
  if (head.method === "POST")
    return query === "" ? POST_FORMS.get(head.contentType)?.read(toLatin1(body)) : undefined;
  const isGet = head.method === "GET" || head.method === "HEAD";
  return isGet && head.contentType === "" ? readGet(query) : undefined;
}

interface PostForm {
  /** Of a successful answer. */
  readonly representation: Representation;
  /** Reads the call in a body, given as Latin-1, if it is a usual one. */
  readonly read: (body: string) => Call | undefined;
}

export const POST_FORMS: ReadonlyMap<string, PostForm> = new Map([
  ["application/proto", postForm("proto", decodeProto)],
  ["application/json", postForm("json", decodeJson)],
  ["application/grpc-web", postForm("grpc-web", inFrame(decodeProto))],
  ["application/grpc-web+proto", postForm("grpc-web", inFrame(decodeProto))],
  ["application/grpc-web+json", postForm("grpc-web-json", inFrame(decodeJson))],
  ["application/grpc-web-text", postForm("grpc-web-text", inBase64(inFrame(decodeProto)))],
  ["application/grpc-web-text+proto", postForm("grpc-web-text", inBase64(inFrame(decodeProto)))],
]);

function postForm(representation: Representation, decode: Decode): PostForm {
  return { representation, read: memoize((body) => asCall(decode(body), representation)) };
}

/** Reads the call in a query, if it is a usual one. */
const readGet = memoize((query) => {
  const parameters = new URLSearchParams(query);
  const encoding = parameters.get("encoding");
  const text = parameters.get("message") ?? "";
  const isLong = text.length > SHORT_BODY_MAX_BYTES;
  if (isLong || parameters.has("compression") || !isConnectForm(encoding)) return undefined;
  const decode = DECODERS[encoding];
  const locale =
    parameters.get("base64") === "1"
      ? inBase64(decode)(text.replaceAll("-", "+").replaceAll("_", "/"))
      : decode(text);
  return asCall(locale, encoding, parameters.get(PIN_PARAMETER));
});

export function isConnectForm(name: string | null | undefined): name is "proto" | "json" {
  return name === "proto" || name === "json";
}

/** Query parameter that names the Catalog-Sha256 of the version to answer from. */
export const PIN_PARAMETER = "v";

function asCall(
  locale: string | undefined,
  representation: Representation,
  pin: string | null = null,
): Call | undefined {
  // In these characters Latin-1 is UTF-8, and JSON has no escapes.
  if (locale === undefined || !/^[\w-]*$/.test(locale)) return undefined;
  const parsed = parseLocale(locale);
  return parsed.ok ? { tag: parsed.tag, representation, pin } : undefined;
}

/** A spread into `String.fromCharCode` would take four times as long. */
function toLatin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** Returns the query of a URL of the method, or undefined for any other URL. */
function queryOf(url: string): string | undefined {
  const pathStart = url.indexOf("/", url.indexOf("//") + "//".length);
  if (!url.startsWith(METHOD_PATH, pathStart)) return undefined;
  const query = url.slice(pathStart + METHOD_PATH.length);
  const isQuery = (query === "" || query.startsWith("?")) && !query.includes("#");
  return isQuery ? query : undefined;
}

/** Whether the client's deadline is valid and has not passed. */
export function hasTime({ deadlineAt }: RequestHead): boolean {
  return deadlineAt === undefined || deadlineAt > Date.now();
}

function isCoded(head: RequestHead): boolean {
  const coding = head.isGrpcWeb ? "grpc-encoding" : "content-encoding";
  return head.method === "POST" && head.headers.has(coding);
}
