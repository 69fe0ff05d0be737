import { Buffer } from "node:buffer";
import { FRAME_HEADER_BYTES, messageFrameHeader } from "../catalog/framing.ts";
import { parseLocale } from "../catalog/locale.ts";
import { memoize } from "../platform/once.ts";
import type { Representation } from "../catalog/manifest.ts";
import { METHOD_PATH, type RequestHead } from "./request.ts";

/** A call of the one method. */
export interface Call {
  /** Tag of `parseLocale`. */
  readonly tag: string;
  /** The representation of a successful answer. */
  readonly representation: Representation;
  /** The Catalog-Sha256 that the call is pinned to. */
  readonly pin: string | null;
}

/** Reads a message in which nothing but a short locale stands. Throws for any other. */
function decodeProto(message: Uint8Array): string {
  const [tag, length] = message;
  if (tag === undefined) return "";
  if (tag !== LOCALE_TAG || length !== message.length - 2) throw new Error("not only a locale");
  return utf8.decode(message.subarray(2));
}

/** Tag of `string locale = 1` on the wire. A length of less than 128 is one byte. */
const LOCALE_TAG = (1 << 3) | 2;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeJson(message: Uint8Array): string {
  const value: unknown = JSON.parse(utf8.decode(message));
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("not an object");
  const { locale = "", ...others } = value as { readonly locale?: unknown }; // any object
  if (typeof locale !== "string" || Object.keys(others).length > 0)
    throw new Error("not only a locale");
  return locale;
}

/** Decodes base64 in one of its alphabets, padded or not. Throws for anything else. */
export function decodeBase64(text: string, alphabet: RegExp): Uint8Array {
  const isPadded = text.endsWith("=");
  if (!alphabet.test(text) || (isPadded ? text.length % 4 !== 0 : text.length % 4 === 1))
    throw new Error("not plain base64");
  return Buffer.from(text, "base64");
}

export const USUAL = /^[A-Za-z0-9+/]*={0,2}$/;
/** Base64 of a query, which clients may write in either alphabet. */
const OF_QUERY = /^[\w+/-]*={0,2}$/;

const decodeFrame = (frame: Uint8Array) => decodeProto(messageOf(frame));
const decodeJsonFrame = (frame: Uint8Array) => decodeJson(messageOf(frame));
const decodeText = (text: Uint8Array) => decodeFrame(decodeBase64(toLatin1(text), USUAL));

/**
 * Reads a call in the forms that clients usually send, at a fraction of the cost of Connect's
 * pipeline, and without its code and that of protobuf, which take long to load. Returns undefined for
 * a malformed or unusual request, which the router then handles.
 */
export function readCall(head: RequestHead, body: Uint8Array): Call | undefined {
  const query = queryOf(head.url);
  if (query === undefined || !hasTime(head) || isCoded(head)) return undefined;
  if (head.method === "POST")
    return query === "" ? POST_FORMS.get(head.contentType)?.(toLatin1(body)) : undefined;
  const isGet = head.method === "GET" || head.method === "HEAD";
  return isGet && head.contentType === "" ? readGet(query) : undefined;
}

/** Reads the call in a body, given as Latin-1, if it is a usual one. */
type ReadBody = (text: string) => Call | undefined;

/** How to read a body, by content type. */
export const POST_FORMS: ReadonlyMap<string, ReadBody> = new Map([
  ["application/proto", postForm("proto", decodeProto)],
  ["application/json", postForm("json", decodeJson)],
  ["application/grpc-web", postForm("grpc-web", decodeFrame)],
  ["application/grpc-web+proto", postForm("grpc-web", decodeFrame)],
  ["application/grpc-web+json", postForm("grpc-web-json", decodeJsonFrame)],
  ["application/grpc-web-text", postForm("grpc-web-text", decodeText)],
  ["application/grpc-web-text+proto", postForm("grpc-web-text", decodeText)],
]);

function postForm(
  representation: Representation,
  decodeLocale: (body: Uint8Array) => string,
): ReadBody {
  return memoize(
    whereValid((text) => {
      const body = Uint8Array.from(text, (char) => char.charCodeAt(0));
      return asCall(decodeLocale(body), representation);
    }),
  );
}

/** Reads the call in a query, if it is a usual one. */
const readGet = memoize(
  whereValid((query) => {
    const parameters = new URLSearchParams(query);
    const encoding = parameters.get("encoding");
    if (parameters.has("compression")) return undefined;
    if (encoding !== "proto" && encoding !== "json") return undefined;
    const text = parameters.get("message") ?? "";
    const message =
      parameters.get("base64") === "1"
        ? decodeBase64(text, OF_QUERY)
        : new TextEncoder().encode(text);
    const locale = encoding === "proto" ? decodeProto(message) : decodeJson(message);
    return asCall(locale, encoding, parameters.get(PIN_PARAMETER));
  }),
);

/** Reads nothing where `read` throws: the router parses the request again and reports the error. */
function whereValid(read: ReadBody): ReadBody {
  return (text) => {
    try {
      return read(text);
    } catch {
      return undefined;
    }
  };
}

/** Query parameter that names the Catalog-Sha256 of the version to answer from. */
export const PIN_PARAMETER = "v";

function asCall(
  locale: string,
  representation: Representation,
  pin: string | null = null,
): Call | undefined {
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
function hasTime({ timeoutMs }: RequestHead): boolean {
  return timeoutMs === undefined || timeoutMs > 0;
}

function isCoded({ method, headers, isGrpcWeb }: RequestHead): boolean {
  return method === "POST" && headers.has(isGrpcWeb ? "grpc-encoding" : "content-encoding");
}

/** Returns the message of a body with exactly one uncompressed frame. Throws for any other body. */
function messageOf(body: Uint8Array): Uint8Array {
  const message = body.subarray(FRAME_HEADER_BYTES);
  const header = messageFrameHeader(message.length);
  if (!header.every((byte, index) => byte === body[index])) throw new Error("not one plain frame");
  return message;
}
