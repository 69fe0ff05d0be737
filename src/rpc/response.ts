import { Buffer } from "node:buffer";
import {
  type Body,
  isMessageCoding,
  MESSAGE_CODINGS,
  type Representation,
} from "../parts/compose.ts";
import { messageSha256 } from "../parts/manifest.ts";
import { toBase64 } from "./base64.ts";
import { POST_FORMS } from "./request.ts";
import { entityTag, type Found, type Variant } from "./look-up.ts";
import type { RequestHead } from "./request.ts";

/** Caches a GET for five minutes; a stale one for two days during a fetch, or for a week during a failure. */
const CACHEABLE = "public, max-age=300, stale-while-revalidate=172800, stale-if-error=604800";

/** A pinned version never changes. */
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Answers with a stored body without reading its bytes. */
export function successResponse(found: Found, { method }: RequestHead): Response {
  const { variant, kind } = found;
  const isPost = method === "POST";
  const origin = kind === "body" ? found.origin : "manifest";
  const head = cachedInit(variant, { isPost, kind, origin });
  if (kind !== "body") return new Response(null, head);
  // Without base64 the stream has a length.
  const stream = found.content.stream();
  return new Response(variant.representation === "grpc-web-text" ? toBase64(stream) : stream, head);
}

function catalogHeaders(variant: Variant, isPost: boolean): Headers {
  const headers = new Headers();
  const cacheable = variant.isPinned ? IMMUTABLE : CACHEABLE;
  headers.set("cache-control", isPost ? "no-store" : cacheable);
  headers.set("catalog-sha256", messageSha256(variant.entry));
  headers.set("catalog-version", String(variant.manifest.generation));
  headers.set("content-language", variant.locale);
  headers.set("last-modified", new Date(variant.manifest.published_at).toUTCString());
  if (variant.fallback !== "none") headers.set("locale-fallback", variant.fallback);
  headers.set("timing-allow-origin", "*");
  headers.set("x-content-type-options", "nosniff");
  headers.set("vary", "Accept-Encoding");
  return allowAnyOrigin(headers);
}

interface InitKey {
  readonly isPost: boolean;
  readonly kind: Found["kind"];
  /** The origin of the answer: `memory`, `kv` or `r2`; `manifest` if it has no body. */
  readonly origin: string;
}

/** Caches them per body of a version, because building one costs more than the rest of a warm request. */
const memo = new WeakMap<Body, Map<string, ResponseInit>>();

function cachedInit(variant: Variant, key: InitKey): ResponseInit {
  const known = memo.get(variant.body) ?? new Map<string, ResponseInit>();
  memo.set(variant.body, known);
  const name = `${key.isPost} ${key.kind} ${key.origin} ${variant.representation} ${variant.fallback} ${variant.isPinned}`;
  const cached = known.get(name);
  if (cached !== undefined) return cached;
  const made = responseInit(variant, key);
  known.set(name, made);
  return made;
}

function responseInit(variant: Variant, { isPost, kind, origin }: InitKey): ResponseInit {
  const headers = catalogHeaders(variant, isPost);
  headers.set("server-timing", `from;desc="${origin}"`);
  headers.set("etag", entityTag(variant));
  headers.set("content-type", MEDIA_TYPES[variant.representation]);
  const { body, coding } = variant;
  if (isMessageCoding(coding)) {
    headers.set("grpc-encoding", MESSAGE_CODINGS[coding]);
  } else {
    if (coding !== "identity") headers.set("content-encoding", coding);
    if (body.sha256 !== null)
      headers.set("repr-digest", `sha-256=:${Buffer.from(body.sha256, "hex").toString("base64")}:`);
  }
  if (kind === "head") headers.set("content-length", String(variant.body.bytes));
  // A 304 has the type and the coding of the body, too: Miniflare codes an answer without a type, and
  // a cache applies the headers of a 304 to the body that it has.
  const status = kind === "not_modified" ? 304 : 200;
  // The bytes are already compressed.
  return { status, headers, encodeBody: "manual" };
}

export const ALLOW = "GET, HEAD, OPTIONS, POST";

/** How long a browser may cache the answer to a preflight. */
const PREFLIGHT_MAX_AGE_SECONDS = 7200;

/** The headers that Connect's clients read (`cors.exposedHeaders`), and those of the catalog. */
const EXPOSED_HEADERS = [
  "Grpc-Status",
  "Grpc-Message",
  "Grpc-Status-Details-Bin",
  "Content-Encoding",
  "Connect-Content-Encoding",
  "Cache-Control",
  "Catalog-Sha256",
  "Catalog-Version",
  "Content-Language",
  "ETag",
  "Last-Modified",
  "Repr-Digest",
  "Locale-Fallback",
  "Retry-After",
  "Vary",
].join(", ");

/** Lets scripts of any origin read an answer, without credentials. */
export function allowAnyOrigin(headers: Headers): Headers {
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
  return headers;
}

/** Answers OPTIONS of the service's paths, as a preflight or not. */
export async function answerOptions(request: Request, head: RequestHead): Promise<Response> {
  await request.body?.cancel();
  if (isPreflight(head)) return preflightResponse(head, "GET, HEAD, POST");
  const headers = { allow: ALLOW, "accept-post": ACCEPT_POST };
  return new Response(null, { status: 204, headers: allowAnyOrigin(new Headers(headers)) });
}

/** Whether a request is a CORS preflight (Fetch, section 4.8). */
export function isPreflight(request: Pick<RequestHead, "method" | "headers">): boolean {
  return (
    request.method === "OPTIONS" &&
    request.headers.has("origin") &&
    request.headers.has("access-control-request-method")
  );
}

/** Permits these methods and all headers that the browser names, such as those of tracing. */
export function preflightResponse(
  { headers: requestHeaders }: Pick<RequestHead, "headers">,
  methods: string,
): Response {
  const headers = allowAnyOrigin(new Headers());
  headers.set("access-control-allow-methods", methods);
  headers.set(
    "access-control-allow-headers",
    requestHeaders.get("access-control-request-headers") ?? "*",
  );
  headers.set("vary", "Access-Control-Request-Headers");
  headers.set("access-control-max-age", String(PREFLIGHT_MAX_AGE_SECONDS));
  return new Response(null, { status: 204, headers });
}

export const MEDIA_TYPES = {
  proto: "application/proto",
  json: "application/json",
  "grpc-web": "application/grpc-web+proto",
  "grpc-web-text": "application/grpc-web-text+proto",
  "grpc-web-json": "application/grpc-web+json",
} as const satisfies Record<Representation, string>;

/** Value of Accept-Post: the media types that a POST may have. */
export const ACCEPT_POST = [...POST_FORMS.keys()].join(", ");
