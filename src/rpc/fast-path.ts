import { createMethodSerializationLookup } from "@connectrpc/connect/protocol";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { LocationsService } from "../../gen/locations/v1/locations_pb.ts";
import { FRAME_HEADER_BYTES, messageFrameHeader } from "../catalog/framing.ts";
import { parseLocale } from "../catalog/locale.ts";
import { memoize } from "../catalog/memoize.ts";
import type { Representation } from "../catalog/manifest.ts";
import { decodeBase64 } from "./base64-body.ts";
import { type RequestHead, ROUTER_OPTIONS } from "./request.ts";

/** A call of the one method. */
export interface Call {
  /** Tag of `parseLocale`. */
  readonly tag: string;
  /** The representation of a successful answer. */
  readonly representation: Representation;
  /** The Catalog-Sha256 that a GET is pinned to. */
  readonly pin: string | null;
}

const METHOD_PATH = `/${LocationsService.typeName}/${LocationsService.method.getLocationsV1.name}`;

/** Decodes messages as Connect's router does. */
const decoders = createMethodSerializationLookup(
  LocationsService.method.getLocationsV1,
  undefined,
  undefined,
  { readMaxBytes: ROUTER_OPTIONS.readMaxBytes, writeMaxBytes: 0 },
);
const decodeProto = (message: Uint8Array) => decoders.getI(true).parse(message).locale;
const decodeJson = (message: Uint8Array) => decoders.getI(false).parse(message).locale;
const decodeFrame = (frame: Uint8Array) => decodeProto(messageOf(frame));
const decodeJsonFrame = (frame: Uint8Array) => decodeJson(messageOf(frame));
const decodeText = (text: Uint8Array) => decodeFrame(decodeBase64(text));

/**
 * Reads a call in the forms that clients usually send, at a fraction of the cost of Connect's
 * pipeline. Returns undefined for a malformed or unusual request, which the router then handles.
 */
export function readCall(head: RequestHead, body: Uint8Array): Call | undefined {
  const query = queryOf(head.url);
  if (query === undefined || !hasTime(head) || isCoded(head)) return undefined;
  if (head.method === "POST") return POST_FORMS.get(head.contentType)?.(toLatin1(body)).call;
  const isGet = head.method === "GET" || head.method === "HEAD";
  return isGet && head.contentType === "" ? readGet(query).call : undefined;
}

/** The call of a request, if it is a usual one. */
interface Read {
  readonly call: Call | undefined;
}

/** Reads the call in a body, given as Latin-1. */
type ReadBody = (text: string) => Read;

/** How to read a body, by content type. */
const POST_FORMS: ReadonlyMap<string, ReadBody> = new Map([
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

/** Parses a query. */
const readGet = memoize(
  whereValid((query) => {
    const parameters = new URLSearchParams(query);
    const encoding = parameters.get("encoding");
    if (parameters.has("compression")) return undefined;
    if (encoding !== "proto" && encoding !== "json") return undefined;
    const text = parameters.get("message") ?? "";
    const message =
      parameters.get("base64") === "1" ? base64Decode(text) : new TextEncoder().encode(text);
    const locale = encoding === "proto" ? decodeProto(message) : decodeJson(message);
    return asCall(locale, encoding, parameters.get(PIN_PARAMETER));
  }),
);

/** Reads nothing where `read` throws: the router parses the request again and reports the error. */
function whereValid(read: (text: string) => Call | undefined): (text: string) => Read {
  return (text) => {
    try {
      return { call: read(text) };
    } catch {
      return { call: undefined };
    }
  };
}

/** Query parameter of a GET that names the Catalog-Sha256 of the version to answer from. */
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
function hasTime({ timeout: { timeoutMs, error } }: RequestHead): boolean {
  return error === undefined && (timeoutMs === undefined || timeoutMs > 0);
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
