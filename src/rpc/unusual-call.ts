import { fromBinary, fromJsonString } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag, readAllBytes, transformSplitEnvelope } from "@connectrpc/connect/protocol";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import { LocationsRequestSchema } from "../../gen/locations/v1/locations_pb.ts";
import { parseLocale } from "../catalog/locale.ts";
import type { Representation } from "../parts/compose.ts";
import { withoutUtf8 } from "../platform/charset.ts";
import { CallError } from "./look-up.ts";
import {
  type Call,
  hasTime,
  isConnectForm,
  isGrpcWebText,
  METHOD_PATH,
  PIN_PARAMETER,
  POST_FORMS,
  type RequestHead,
} from "./request.ts";
import {
  decodeBase64Frames,
  messageTooLarge,
  openBody,
  READ_MAX_BYTES,
  type UnreadRequest,
} from "./request-body.ts";

/**
 * Reads a call in any form that the protocols allow. Checks in the order of Connect's router, so that
 * both report the same one of several mistakes. Rejects with ConnectError in the router's words, or
 * with CallError.
 */
export async function readUnusualCall(unread: UnreadRequest): Promise<Call> {
  const { head } = unread;
  const { pathname, searchParams: query } = new URL(head.url);
  const body = openBody(unread);
  try {
    if (pathname !== METHOD_PATH) throw new CallError(404);
    const representation = representationOf(head, query);
    assertUncoded(head, query);
    assertTimeout(head);
    const decode = representation.endsWith("json") ? decodeJson : decodeProto;
    const locale = await readLocale(head, { query, body, decode });
    const parsed = parseLocale(locale);
    if (!parsed.ok) throw new CallError(parsed.reason);
    if (!hasTime(head)) throw new CallError("deadline_exceeded");
    return { tag: parsed.tag, representation, pin: query.get(PIN_PARAMETER) };
  } finally {
    await body.discard();
  }
}

/** Of the answer. A GET need not have a media type. */
function representationOf(head: RequestHead, query: URLSearchParams): Representation {
  const { method, contentType } = head;
  if (!["GET", "HEAD", "POST"].includes(method)) throw new CallError(405);
  const posted = formOf(contentType);
  if (method === "POST" && posted !== undefined) return posted;
  const encoding = query.get("encoding");
  const isConnect = contentType === "" || isConnectForm(posted);
  if (method !== "POST" && isConnect && isConnectForm(encoding)) return encoding;
  throw new CallError(415);
}

/** Ignores the case of a media type and, for JSON, the charset UTF-8. */
function formOf(contentType: string): Representation | undefined {
  const type = contentType.toLowerCase();
  return POST_FORMS.get(/json\s*;/.test(type) ? withoutUtf8(type) : type)?.representation;
}

/** The contract has no compressed requests, and a short one needs no compression. */
function assertUncoded({ method, headers, isGrpcWeb }: RequestHead, query: URLSearchParams): void {
  const header = isGrpcWeb ? "grpc-encoding" : "content-encoding";
  const coding = method === "POST" ? headers.get(header) : query.get("compression");
  if (coding === null || coding === "identity") return;
  const message = `unknown compression "${coding}": supported encodings are identity`;
  throw new ConnectError(message, Code.Unimplemented);
}

function assertTimeout({ isGrpcWeb, headers, deadlineAt }: RequestHead): void {
  if (!Number.isNaN(deadlineAt)) return;
  const [protocol, header] = isGrpcWeb
    ? ["grpc", "grpc-timeout"]
    : ["connect", "connect-timeout-ms"];
  throw invalid(`protocol error: invalid ${protocol} timeout value: ${headers.get(header)}`);
}

/** Returns the locale in a message. Throws ConnectError. */
type Decode = (message: Uint8Array) => string;

interface Unparsed {
  readonly query: URLSearchParams;
  readonly body: AsyncIterable<Uint8Array>;
  readonly decode: Decode;
}

async function readLocale(
  { method, headers, isGrpcWeb, contentType }: RequestHead,
  { query, body, decode }: Unparsed,
): Promise<string> {
  if (method !== "POST") return decode(messageOf(query));
  if (isGrpcWeb)
    return readFrames(isGrpcWebText(contentType) ? decodeBase64Frames(body) : body, decode);
  return decode(await readAllBytes(body, READ_MAX_BYTES, headers.get("content-length")));
}

function messageOf(query: URLSearchParams): Uint8Array {
  const text = query.get("message") ?? "";
  const message = query.get("base64") === "1" ? decodeQuery(text) : new TextEncoder().encode(text);
  if (message.byteLength > READ_MAX_BYTES) throw messageTooLarge(message.byteLength);
  return message;
}

function decodeQuery(text: string): Uint8Array {
  try {
    return base64Decode(text);
  } catch {
    throw invalid("message is not base64");
  }
}

/** Reads frames, exactly one of which is a message. Ignores trailers. */
async function readFrames(body: AsyncIterable<Uint8Array>, decode: Decode): Promise<string> {
  let locale: string | undefined;
  for await (const { flags, data } of transformSplitEnvelope(READ_MAX_BYTES)(body)) {
    if ((flags & ~(compressedFlag | trailerFlag)) !== 0)
      throw invalid(`protocol error: unknown frame flags ${flags}`);
    if ((flags & compressedFlag) !== 0) throw new ConnectError(NOT_COMPRESSED, Code.Internal);
    if (flags === trailerFlag) continue;
    const decoded = decode(data);
    if (locale !== undefined) throw notOneMessage("received extra");
    locale = decoded;
  }
  if (locale === undefined) throw notOneMessage("missing");
  return locale;
}

const NOT_COMPRESSED = "received compressed envelope, but do not know how to decompress";

function notOneMessage(problem: string): ConnectError {
  const message = `protocol error: ${problem} input message for unary method`;
  return new ConnectError(message, Code.Unimplemented);
}

function decodeProto(message: Uint8Array): string {
  try {
    return fromBinary(LocationsRequestSchema, message).locale;
  } catch (cause) {
    throw invalid(`parse binary: ${ConnectError.from(cause).rawMessage}`);
  }
}

function decodeJson(message: Uint8Array): string {
  try {
    const text = new TextDecoder().decode(message);
    return fromJsonString(LocationsRequestSchema, text, { ignoreUnknownFields: true }).locale;
  } catch (cause) {
    throw ConnectError.from(cause, Code.InvalidArgument);
  }
}

function invalid(message: string): ConnectError {
  return new ConnectError(message, Code.InvalidArgument);
}
